import type { z } from 'zod'
import type { Operation, ResultOf } from '../contract/operation.ts'

/** Settings of one call, for every operation. */
export interface CallSettings {
  /** Aborts the call and its retries. */
  readonly signal?: AbortSignal | undefined
  /** Timeout for this call only. */
  readonly timeoutMs?: number | undefined
  /** Used instead of the generated key: with the same key, a repetition from another process is the same write. */
  readonly idempotencyKey?: string | undefined
}

/** The input of a call, typed by its operation. Parts without a required field may be omitted. */
export type CallInput<Op> = CallSettings &
  Part<'params', ParamsInput<Op>> &
  Part<'query', QueryInput<Op>> &
  Part<'body', BodyInput<Op>>

/** The input may be omitted if nothing in it is required. */
export type CallArguments<Op> =
  object extends CallInput<Op> ? [input?: CallInput<Op>] : [input: CallInput<Op>]

type Part<Name extends string, Value> = [Value] extends [never]
  ? { readonly [Key in Name]?: undefined }
  : object extends Value
    ? { readonly [Key in Name]?: Value | undefined }
    : { readonly [Key in Name]: Value }

type ParamsInput<Op> = Op extends { readonly params: infer Params extends z.ZodObject }
  ? Named<z.input<Params>>
  : never

/** Never, if the object type has no fields. */
type Named<Fields> = string extends keyof Fields ? never : Fields

/** Query values have their own types, such as number: the client converts them to text. */
type QueryInput<Op> = Op extends { readonly query: infer Query extends z.ZodObject }
  ? Named<z.output<Query>> extends never
    ? never
    : Optional<z.output<Query>, z.input<Query>>
  : never

type Optional<Output, Input> = {
  [Name in keyof Output as undefined extends Input[Name & keyof Input] ? never : Name]: Output[Name]
} & {
  [Name in keyof Output as undefined extends Input[Name & keyof Input] ? Name : never]?:
    | Output[Name]
    | undefined
}

type BodyInput<Op> = Op extends { readonly body: infer Body }
  ? Exclude<Body, null> extends z.ZodUndefined
    ? never
    : Exclude<Body, null> extends z.ZodType
      ? z.input<Exclude<Body, null>>
      : never
  : never

/** The function of one operation: `client.endpoints.pause`. */
export type CallOf<Op> = (...input: CallArguments<Op>) => Promise<ResultOf<Op>>

export type CallsOf<Groups> = {
  readonly [Group in keyof Groups]: {
    readonly [Name in keyof Groups[Group]]: CallOf<Groups[Group][Name]>
  }
}

/** The same without types, for the implementation. */
export interface PlainInput extends CallSettings {
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

export type PlainCall = (operation: Operation, input: PlainInput) => Promise<unknown>
