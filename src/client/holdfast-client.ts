import type { z } from 'zod'
import type { eventInput, messageInput } from '../contract/events.ts'
import type { Operation, ResultOf } from '../contract/operation.ts'
import { type Operations, operations } from '../contract/operations.ts'
import { HoldfastError } from '../core/errors.ts'
import type { RawJson } from '../sdk/raw-json.ts'
import type { CallArguments, CallInput, CallSettings } from './call-input.ts'
import { Caller } from './caller.ts'
import { type GroupedCalls, groupCalls } from './grouped-calls.ts'
import { type Change, readChanges } from './read-changes.ts'

export interface HoldfastClientOptions {
  /** URL of a node, like `https://holdfast.example.com`. */
  readonly url: string
  /** `hf_…`; undefined is refused, so that an environment variable can be passed directly. */
  readonly apiKey: string | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Used instead of `JSON.parse`, which rounds numbers in payloads that a JavaScript number can't represent. */
  readonly parseJson?: (text: string) => unknown
  /** Timeout of one attempt at a call, from the first byte to the last; 30 seconds by default. */
  readonly timeoutMs?: number
  /** Attempts after the first one, where a retry is safe and can help; 3 by default. */
  readonly maxRetries?: number
}

type PublishBody = z.input<typeof eventInput>
/** The options of an event, and settings of the call. `idempotencyKey` is the event's own. */
export type RemotePublishOptions = Omit<PublishBody, 'type' | 'payload'> &
  Omit<CallSettings, 'idempotencyKey'>
export type RemoteSendOptions = Omit<z.input<typeof messageInput>, 'payload'> &
  Omit<CallSettings, 'idempotencyKey'>

type EventCalls = Operations['events']
type Paged<Item> = { readonly data: readonly Item[]; readonly nextCursor: string | null }

const defaultTimeoutMs = 30_000
const defaultMaxRetries = 3

/** A class whose fields are the groups, so that TypeScript gets their types from the contract. */
const Grouped = function Grouped(this: object, groups: GroupedCalls): void {
  Object.assign(this, groups)
} as unknown as new (
  groups: GroupedCalls,
) => GroupedCalls

/**
 * Client of the HTTP API. Every operation is a function, typed by the API's contract. Writes have an `Idempotency-Key`, the same for every retry, so
 * that a lost response can't cause a second write.
 *
 * @example
 * const client = new HoldfastClient({ url: 'http://127.0.0.1:8420', apiKey: process.env.HOLDFAST_API_KEY })
 * const { id } = await client.publish('order.created', { id: 17 })
 * await client.endpoints.pause({ params: { name: 'crm' }, body: { reason: 'moving house' } })
 */
export class HoldfastClient<Events extends object = Record<string, unknown>> extends Grouped {
  readonly #caller: Caller
  /** The node's URL. */
  readonly url: string

  constructor(options: HoldfastClientOptions) {
    const caller = new Caller({
      baseUrl: baseUrlOf(options.url),
      apiKey: requireKey(options.apiKey),
      fetch: options.fetch ?? globalThis.fetch,
      parseJson: options.parseJson ?? JSON.parse,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      maxRetries: options.maxRetries ?? defaultMaxRetries,
    })
    super(groupCalls((operation, input) => caller.call(operation, input)))
    this.#caller = caller
    this.url = baseUrlOf(options.url)
  }

  /** Calls any operation of the contract; the groups (`client.endpoints.list(…)`) use it. */
  call<Op extends { readonly id: string }>(
    operation: Op,
    ...[input]: CallArguments<Op>
  ): Promise<ResultOf<Op>> {
    return this.#caller.call(operation as unknown as Operation, input ?? {}) as Promise<ResultOf<Op>>
  }

  /** Stores an event and a delivery for every matching route. A `RawJson` payload keeps all digits. */
  publish<Type extends keyof Events & string>(
    type: Type,
    payload: Events[Type] | RawJson,
    options: RemotePublishOptions = {},
  ): Promise<ResultOf<EventCalls['publish']>> {
    const { signal, timeoutMs, ...rest } = options
    return this.call(operations.events.publish, { body: { ...rest, type, payload }, signal, timeoutMs })
  }

  /** Publishes all events or none. */
  async publishBatch(
    events: readonly PublishBody[],
    settings: CallSettings = {},
  ): Promise<ResultOf<EventCalls['publishBatch']>['events']> {
    const input = { ...settings, body: { events: [...events] } }
    return (await this.call(operations.events.publishBatch, input)).events
  }

  /** Sends one message directly to one endpoint. */
  send(
    endpoint: string,
    payload: unknown,
    options: RemoteSendOptions = {},
  ): Promise<ResultOf<EventCalls['send']>> {
    const { signal, timeoutMs, ...rest } = options
    return this.call(operations.events.send, {
      params: { name: endpoint },
      body: { ...rest, payload },
      signal,
      timeoutMs,
    })
  }

  /** Calls an endpoint and waits for its response. The client doesn't retry: the endpoint's own policy does. */
  request(
    endpoint: string,
    input: CallInput<Operations['endpoints']['request']>['body'] = {},
    settings: CallSettings = {},
  ): Promise<ResultOf<Operations['endpoints']['request']>> {
    return this.call(operations.endpoints.request, { ...settings, params: { name: endpoint }, body: input })
  }

  /**
   * All items of a list, loaded page by page on demand.
   *
   * @example
   * for await (const endpoint of client.paginate(client.endpoints.list, { query: { tag: 'eu' } })) console.log(endpoint.name)
   */
  async *paginate<Input extends { readonly query?: object | undefined }, Item>(
    list: (input: Input) => Promise<Paged<Item>>,
    ...[input]: object extends NoInfer<Input> ? [input?: NoInfer<Input>] : [input: NoInfer<Input>]
  ): AsyncGenerator<Item, void, undefined> {
    let cursor: string | undefined
    do {
      const query = { ...input?.query, ...(cursor !== undefined && { cursor }) }
      const page = await list({ ...input, query } as Input)
      yield* page.data
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  /** A stream of changes; reconnects and continues where it stopped. Ends with the signal. */
  changes(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Change, void, undefined> {
    return readChanges((headers) => this.#caller.open('/v1/stream', headers, options.signal), options.signal)
  }
}

function requireKey(apiKey: string | undefined): string {
  if (apiKey !== undefined && apiKey !== '') return sendable(apiKey)
  throw new HoldfastError(
    'configuration_invalid',
    'The API key is missing: set apiKey (HOLDFAST_API_KEY) to a key like hf_…, made with: holdfast api-keys create <name> --role publisher',
  )
}

function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isUsable =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isUsable && url.search === '' && url.hash === '') return url.href.replace(/\/+$/, '')
  // The text isn't repeated in the error: it may contain a password.
  throw new HoldfastError(
    'configuration_invalid',
    'The URL of the API must be like http://127.0.0.1:8420, without a user, a password or a query.',
  )
}

/** Checked here, because `fetch` would show the header's value, a secret, in its error. */
function sendable(apiKey: string): string {
  if (/^[\t\u0020-\u007e\u0080-\u00ff]+$/.test(apiKey)) return apiKey
  throw new HoldfastError(
    'configuration_invalid',
    'The API key (apiKey, HOLDFAST_API_KEY) contains a line break, or a character that an HTTP header can not carry. Copy it again, without quotes around it.',
  )
}
