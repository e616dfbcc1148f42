import type { z } from 'zod'
import type { Operation, ResultOf } from '../contract/operation.ts'

/** How one call is made, whichever call it is. */
export interface CallSettings {
  /** Ends the call and every retry of it. */
  readonly signal?: AbortSignal | undefined
  /** For this call only. */
  readonly timeoutMs?: number | undefined
  /** Instead of the generated one: the same key makes a repetition from another process the same write. */
  readonly idempotencyKey?: string | undefined
}

/** What a call takes, typed by its description: parts that have no required field may be left out. */
export type CallInput<Op> = CallSettings &
  Part<'params', ParamsInput<Op>> &
  Part<'query', QueryInput<Op>> &
  Part<'body', BodyInput<Op>>

/** The input may be left out as a whole when nothing in it is required. */
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

/** An object without fields has no names that one could give. */
type Named<Fields> = string extends keyof Fields ? never : Fields

/** A query is written as its values mean, a number as a number: turning it into text is the client's business. */
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

/** A function for one operation: `client.endpoints.pause`. */
export type CallOf<Op> = (...input: CallArguments<Op>) => Promise<ResultOf<Op>>

export type CallsOf<Groups> = {
  readonly [Group in keyof Groups]: {
    readonly [Name in keyof Groups[Group]]: CallOf<Groups[Group][Name]>
  }
}

/** The same without types, for the code that does it. */
export interface PlainInput extends CallSettings {
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

export type PlainCall = (operation: Operation, input: PlainInput) => Promise<unknown>
