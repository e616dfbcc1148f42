import { z } from 'zod'
import type { CommonEndpointInput } from '../core/endpoints/common-endpoint-input.ts'
import type { EndpointFlag } from '../core/endpoints/endpoint-flag.ts'
import { field } from '../core/field.ts'

/** How an attempt ended, which decides what follows: docs/transports.md. */
export type AttemptClassName = 'success' | 'retryable' | 'permanent' | 'gone' | 'throttled'

/** An endpoint of one transport, as users write it. */
interface TransportEndpoint extends CommonEndpointInput {
  readonly transport?: string | undefined
  readonly config?: object | undefined
}

export type TransportNameOf<Endpoint extends TransportEndpoint> = Exclude<Endpoint['transport'], undefined>
export type ConfigInputOf<Endpoint extends TransportEndpoint> = Exclude<Endpoint['config'], undefined>

/**
 * The description of a transport, read by the API's description, the CLI's flags and help, config as code, SQL and the docs. It
 * has no code that sends, so that a client can import it.
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
  /** Flags of the CLI that set fields of `config`. A flag that several transports name is one flag. */
  readonly flags: readonly EndpointFlag[]
  /** Defaults of `config`, by what it has: shown with each endpoint, and left out of the files of config as code. */
  readonly defaultsOf?: (config: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** What else config as code leaves out of files. */
  readonly usualConfig?: Readonly<Record<string, unknown>>
  /** What `holdfast.create_endpoint` accepts in SQL; null: nothing. */
  readonly sqlConfig: z.ZodObject | null
  /** The destination as shown in a list; undefined: only the transport's name is shown. */
  targetOf(config: ConfigInputOf<Endpoint>): string | undefined
}

export function describeTransport<Endpoint extends TransportEndpoint>(
  description: TransportDescription<Endpoint>,
): TransportDescription<Endpoint> {
  return description
}

/** For the `config` of every transport. */
export const timeoutMs = z.int().min(100).max(300_000).optional()
export const classify = z
  .record(z.string(), z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']))
  .optional()

/** The same in SQL, where `classify` is validated with the endpoint, for every transport alike. */
export const sqlCommon = {
  timeoutMs: field.wholeNumber(100, 300_000).optional(),
  classify: z.record(z.string(), z.string()).optional(),
}
