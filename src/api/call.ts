import type { BodyOf, ParamsOf, QueryOf, ResultOf } from '../contract/operation.ts'
import type { Holdfast } from '../sdk/holdfast.ts'
import type { Management } from '../sdk/management.ts'
import type { Caller } from './access/caller.ts'

/** What a handler gets: the validated input, the caller, and Holdfast with the caller as actor. */
export interface Call<Op> {
  readonly params: ParamsOf<Op>
  readonly query: QueryOf<Op>
  readonly body: BodyOf<Op>
  readonly caller: Caller
  readonly management: Management
  readonly holdfast: Holdfast
  /** A write is one transaction: notifications about it must wait for its commit. */
  readonly afterCommit: (tell: () => void) => void
  /** The `Idempotency-Key` header. */
  readonly idempotencyKey: string | null
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** A part of the body, with all digits that a JavaScript number would lose. */
  readonly exact: (pick: (body: BodyOf<Op>) => unknown) => unknown
}

export type Handler<Op> = (
  call: Call<Op>,
) => Promise<ResultOf<Op> extends undefined ? void : Immutable<ResultOf<Op>>>

/**
 * A write whose input is costly to check: `before` does that outside of the transaction, so that no lock and no connection waits for it, and
 * `perform` gets what it returns.
 */
export interface PreparedHandler<Op, Prepared> {
  readonly before: (call: Call<Op>) => Promise<Prepared>
  readonly perform: (call: Call<Op>, prepared: Prepared) => ReturnType<Handler<Op>>
}

export function preparedHandler<Op, Prepared>(
  handler: PreparedHandler<Op, Prepared>,
): PreparedHandler<Op, unknown> {
  return handler as PreparedHandler<Op, unknown>
}

/** Handlers may return read-only values. */
type Immutable<Value> = Value extends Date
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]: Immutable<Value[Name]> }
    : Value

/** One handler for each operation of a group: the compiler reports a missing one. */
export type HandlersFor<Group> = {
  readonly [Name in keyof Group]: Handler<Group[Name]> | PreparedHandler<Group[Name], unknown>
}
