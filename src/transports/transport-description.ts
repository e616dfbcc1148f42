import { z } from 'zod'
import type { CommonEndpointInput } from '../core/endpoints/common-endpoint-input.ts'
import type { EndpointFlag } from '../core/endpoints/endpoint-flag.ts'
import { field } from '../core/field.ts'

/** How an attempt ended, which determines what follows: docs/transports.md. */
export type AttemptClassName = 'success' | 'retryable' | 'permanent' | 'gone' | 'throttled'

/** An endpoint of one transport, as users write it. */
interface TransportEndpoint extends CommonEndpointInput {
  readonly transport?: string | undefined
  readonly config?: object | undefined
}

export type TransportNameOf<Endpoint extends TransportEndpoint> = Exclude<Endpoint['transport'], undefined>
export type ConfigInputOf<Endpoint extends TransportEndpoint> = Exclude<Endpoint['config'], undefined>

/**
 * The description of a transport, for the API's description, the CLI's flags and help, config as code, SQL and the
 * docs. It imports no code that sends, so that clients can use it.
 */
export interface TransportDescription<Endpoint extends TransportEndpoint = TransportEndpoint> {
  readonly name: TransportNameOf<Endpoint>
  /** Completes "sends messages to …". */
  readonly sendsTo: string
  /** The `config` for readers of the API's description. `config-checks.ts` has the validating schema; a test compares the two. */
  readonly config: z.ZodObject & z.ZodType<unknown, ConfigInputOf<Endpoint>>
  readonly isConfigOptional?: true
  /** Also determines the type of such endpoints. */
  readonly example: Endpoint
  /** CLI flags that set fields of `config`. A flag that several transports have is one flag. */
  readonly flags: readonly EndpointFlag[]
  /** Defaults of `config`, which may depend on its other fields: shown with each endpoint, and left out of config-as-code files. */
  readonly defaultsOf?: (config: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** Further values that config as code leaves out of its files. */
  readonly usualConfig?: Readonly<Record<string, unknown>>
  /** The config that `holdfast.create_endpoint` accepts in SQL; null: none. */
  readonly sqlConfig: z.ZodObject | null
  /** The destination as shown in a list; undefined: only the transport's name is shown. */
  targetOf(config: ConfigInputOf<Endpoint>): string | undefined
}

export function describeTransport<Endpoint extends TransportEndpoint>(
  description: TransportDescription<Endpoint>,
): TransportDescription<Endpoint> {
  return description
}

/** Fields of every transport's `config`. */
export const timeoutMs = z.int().min(100).max(300_000).optional()
export const classify = z
  .record(z.string(), z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']))
  .optional()

/** The same fields in SQL, where `classify` is validated with the endpoint, for every transport alike. */
export const sqlCommon = {
  timeoutMs: field.wholeNumber(100, 300_000).optional(),
  classify: z.record(z.string(), z.string()).optional(),
}
