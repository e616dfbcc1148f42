// Reads the doc comments of the SDK's types for the OpenAPI document, so that both have the same text. Written to src/contract/field-descriptions.ts.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Base types come before the types that extend them. */
const sources = [
  'src/core/endpoints/policy-inputs.ts',
  'src/core/endpoints/setting-fields.ts',
  'src/core/endpoints/common-endpoint-input.ts',
  'src/transports/http/description.ts',
  'src/transports/*/description.ts',
  'src/transports/endpoint-types.ts',
  'src/core/sources/mapping-input.ts',
  'src/sources/*/description.ts',
  'src/sources/source-types.ts',
  'src/transforms/learning/description.ts',
  'src/transforms/*/description.ts',
  'src/transforms/route-types.ts',
  'src/sdk/schedule-input.ts',
]
const interfacePattern = /^export interface (\w+)(?:<[^{]*?>)?(?: extends ([^{]*))? \{\n(.*?)^\}/gms
// The type of the settings is derived from this table of fields.
const tablePattern = /^export const settingFields = \{\n(.*?)^\}/ms
const rowPattern = / {2}\/\*\* (.*?) \*\/\n {2}(\w+): /gs
const fieldPattern = /(?: {2}\/\*\* (.*?) \*\/\n)? {2}readonly (\w+)\??:\s/gs

/** `{ HttpConfigInput: { url: 'Where requests go …' } }`; a field without a comment is null. */
export function readFieldDescriptions(root) {
  const found = {}
  for (const source of filesOf(root)) {
    const text = readFileSync(join(root, source), 'utf8')
    const [, table] = tablePattern.exec(text) ?? []
    if (table !== undefined) {
      found.SettingInputs = Object.fromEntries(
        [...table.matchAll(rowPattern)].map(([, comment, field]) => [field, comment]),
      )
      continue
    }
    for (const [, name, bases = '', body] of text.matchAll(interfacePattern)) {
      const own = [...body.matchAll(fieldPattern)].map(([, comment, field]) => [
        field,
        comment === undefined ? null : comment.replace(/\s*\n\s*\*\s*/g, ' ').trim(),
      ])
      const inherited = bases.match(/\w+/g)?.map((base) => found[base]) ?? []
      // Only input types have comments on their fields.
      if (own.some(([, comment]) => comment !== null))
        found[name] = Object.assign({}, ...inherited, Object.fromEntries(own))
    }
  }
  return found
}

function filesOf(root) {
  const files = sources.flatMap((source) => {
    const [folder, file] = source.split('/*/')
    if (file === undefined) return [source]
    return readdirSync(join(root, folder))
      .sort()
      .map((name) => `${folder}/${name}/${file}`)
      .filter((path) => existsSync(join(root, path)))
  })
  return new Set(files)
}

export function fieldDescriptionsModule(root) {
  return `// Written by npm run openapi from the doc comments of the SDK's types. Don't edit.
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(readFieldDescriptions(root), null, 2)}\n`
}
