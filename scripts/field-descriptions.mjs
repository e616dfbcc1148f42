// The doc comments of the SDK's types, for the OpenAPI document: one text for both. Written to src/contract/field-descriptions.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const sources = [
  'src/core/endpoints/transport-configs.ts',
  'src/core/routes/transform-configs.ts',
  'src/core/endpoints/endpoint-types.ts',
  'src/core/routes/route-input.ts',
  'src/sdk/schedule-input.ts',
]
const interfacePattern = /^export interface (\w+)(?:<[^{]*?>)?(?: extends ([^{]*))? \{\n(.*?)^\}/gms
const fieldPattern = /(?: {2}\/\*\* (.*?) \*\/\n)? {2}readonly (\w+)\??:\s/gs

/** `{ HttpConfigInput: { url: 'Where requests go …' } }`; a field without a comment is null. */
export function readFieldDescriptions(root) {
  const found = {}
  for (const source of sources) {
    const text = readFileSync(join(root, source), 'utf8')
    for (const [, name, bases = '', body] of text.matchAll(interfacePattern)) {
      const own = [...body.matchAll(fieldPattern)].map(([, comment, field]) => [
        field,
        comment === undefined ? null : comment.replace(/\s*\n\s*\*\s*/g, ' ').trim(),
      ])
      const inherited = bases.match(/\w+/g)?.map((base) => found[base]) ?? []
      // Types that are no input have no comments on their fields.
      if (own.some(([, comment]) => comment !== null))
        found[name] = Object.assign({}, ...inherited, Object.fromEntries(own))
    }
  }
  return found
}

export function fieldDescriptionsModule(root) {
  return `// Written by npm run openapi from the doc comments of the SDK's types. Don't edit.
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(readFieldDescriptions(root), null, 2)}\n`
}
