import { z } from 'zod'
import { type EndpointSettings, parseEndpoint } from '../core/endpoints/endpoint-config.ts'
import type { EndpointDefaults } from '../core/endpoints/setting-fields.ts'
import { problemsInside, problemsOf } from '../core/problem.ts'
import { type SplitConfig, splitSecrets } from '../secrets/endpoint-secrets.ts'
import { descriptionOf } from '../transports/descriptions.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { type EndpointProblem, invalidEndpoint } from './endpoint-errors.ts'

export interface CheckOptions {
  readonly transports: TransportRegistry
  /** Whether to refuse a target that this process may not reach. */
  readonly judgesTarget: boolean
  /** Paths of the secrets that are already stored for the endpoint. */
  readonly stored: readonly string[]
  readonly site: EndpointDefaults
}

interface CheckedEndpoint {
  readonly settings: EndpointSettings
  readonly secrets: SplitConfig
  readonly signingSecret: string | null
}

/** Validates an endpoint as a whole; returns the settings to store, and their secrets. */
export function checkedEndpoint(input: unknown, options: CheckOptions): CheckedEndpoint {
  const { judgesTarget, site, stored, transports } = options
  const parsed = parseEndpoint(input, site)
  if (!parsed.ok) throw invalidEndpoint(parsed.problems)
  const found = transports.get(parsed.value.transport)
  if (!found.isFound) throw invalidEndpoint([{ path: 'transport', message: found.message }])
  const { transport } = found
  try {
    transport.parseConfig(parsed.value.config)
  } catch (error) {
    throw invalidEndpoint(configProblems(error, parsed.value))
  }
  const refused = judgesTarget ? transport.refuse?.(parsed.value.config) : []
  if (refused !== undefined && refused.length > 0) throw invalidEndpoint(refused)
  const completed = transport.completeConfig?.(parsed.value.config, (field) => stored.includes(field))
  const config = completed?.config ?? parsed.value.config
  const secrets = splitSecrets(config, transport.secretPaths?.(config) ?? [], transport.shownPart)
  const missing = secrets.kept.filter((field) => !stored.includes(field))
  if (missing.length > 0) {
    throw invalidEndpoint(
      missing.map((field) => ({
        path: `config.${field}`,
        message: 'is marked as set, but no secret is stored: give its value',
      })),
    )
  }
  return {
    settings: { ...parsed.value, config: secrets.config as EndpointSettings['config'] },
    secrets,
    signingSecret: completed?.signingSecret ?? null,
  }
}

function configProblems(error: unknown, { transport, config }: EndpointSettings): EndpointProblem[] {
  if (!(error instanceof z.ZodError)) return [{ path: 'config', message: String(error) }]
  const problems = problemsOf(error, { schema: descriptionOf(transport)?.config, input: config })
  return problemsInside('config', problems)
}
