import { z } from 'zod'
import { parseEndpoint } from '../../../core/endpoints/endpoint-config.ts'
import { endpointInput } from '../../../core/endpoints/endpoint-input.ts'
import { settingSections } from '../../../core/endpoints/setting-fields.ts'
import { type Problem, parseBySchema, problemsInside } from '../../../core/problem.ts'
import { digestPrefix, isSecretMark } from '../../../secrets/endpoint-secrets.ts'
import { loadConfigChecks } from '../../../transports/config-checks.ts'
import { descriptionOf } from '../../../transports/descriptions.ts'
import type { EndpointInput } from '../../../transports/endpoint-types.ts'
import { hasHiddenValue } from '../../../transports/http/hidden-url.ts'
import { isSame } from '../compare.ts'
import { compareHidden, withoutDigests } from '../hidden-values.ts'
import { collect, type Fields, type Kind, writable } from '../kind.ts'

const sections: readonly string[] = ['config', ...settingSections]

export const endpointKind: Kind = {
  list: 'endpoints',
  noun: 'endpoint',
  schema: endpointInput,
  merged: sections,
  hasReferences: true,
  read: async (client) => {
    const endpoints = await collect(client.paginate(client.endpoints.list, { query: { limit: 1000 } }))
    return endpoints.map((endpoint) => writable(endpoint, endpointInput.shape))
  },
  check: async (fields, { isNew }) => {
    const parsed = parseEndpoint(withoutDigests(fields))
    if (!parsed.ok) return parsed.problems
    const described = descriptionOf(parsed.value.transport)
    if (described === undefined) return []
    const given = fields['config'] as Fields | undefined
    // A change that contains every required field can be validated like a new config.
    const isWhole = isNew || requiredFields(described.config).every((field) => given?.[field] !== undefined)
    const checks = isWhole ? await loadConfigChecks(described.name) : undefined
    return checks === undefined ? [] : configProblems(checks, parsed.value.config)
  },
  create: async (client, _name, fields) => {
    const { signingSecret } = await client.endpoints.create({ body: fields as object as EndpointInput })
    return signingSecret ?? null
  },
  update: async (client, name, changes) => {
    await client.endpoints.update({ params: { name }, body: withoutDigests(changes) as Fields })
    return null
  },
  delete: async (client, name) => {
    await client.endpoints.delete({ params: { name } })
  },
  compareHidden,
  digests: async (client, name) => {
    const { data } = await client.endpoints.listSecrets({ params: { name } })
    return Object.fromEntries(data.flatMap(({ field, digest }) => (digest === null ? [] : [[field, digest]])))
  },
  toFile: (fields, digests = {}) => {
    const parsed = parseEndpoint({ name: fields['name'], preset: fields['preset'] })
    if (!parsed.ok) return fields
    const usual: Fields = { ...parsed.value, preset: 'standard' }
    const described = descriptionOf((fields['transport'] as string | undefined) ?? 'http')
    const usualConfig: Fields = {
      ...described?.defaultsOf?.(fields['config'] as Fields),
      ...described?.usualConfig,
      ...parsed.value.config,
    }
    const kept: Record<string, unknown> = {}
    for (const [field, value] of Object.entries(fields)) {
      if (field === 'name') kept[field] = value
      else if (field === 'config')
        kept[field] = configToFile(String(fields['name']), value as Fields, usualConfig, digests)
      else if (sections.includes(field)) {
        const rest = unusual(value as Fields, usual[field] as Fields)
        if (Object.keys(rest).length > 0) kept[field] = rest
      } else if (!isSame(value, usual[field])) kept[field] = value
    }
    return kept
  },
}

function requiredFields({ shape }: z.ZodObject): string[] {
  return Object.keys(shape).filter((field) => !(shape[field] instanceof z.ZodOptional))
}

function configProblems(schema: z.ZodType, config: Fields): readonly Problem[] {
  const parsed = parseBySchema(schema, config)
  return parsed.ok ? [] : problemsInside('config', parsed.problems)
}

function unusual(fields: Fields, usual: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !isSame(value, usual[name])))
}

/**
 * Secrets can't be read. The file gets a secret's digest, which `apply` compares, or a reference to fill in if there is none; an omitted signing
 * secret stays unchanged.
 */
function configToFile(
  endpoint: string,
  config: Fields,
  usual: Fields,
  digests: Readonly<Record<string, string>>,
): Fields {
  const rest = unusual(config, usual)
  return referenced(rest, [], (path) => {
    const digest = digests[path.join('.')]
    return digest === undefined
      ? `env:${[endpoint, ...path].join('_').replace(/\W+/g, '_').toUpperCase()}`
      : `${digestPrefix}${digest}`
  }) as Fields
}

function referenced(
  value: unknown,
  path: readonly string[],
  standIn: (path: readonly string[]) => string,
): unknown {
  const isUrl = /^(?:url|auth\.tokenUrl)$/.test(path.join('.'))
  if (isSecretMark(value) || (typeof value === 'string' && isUrl && hasHiddenValue(value)))
    return standIn(path)
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, referenced(each, [...path, name], standIn)]),
  )
}
