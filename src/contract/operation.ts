import type { z } from 'zod'
import type { Permission } from '../core/access/roles.ts'
import type { ErrorCode } from '../core/errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One call of the HTTP API, described once: the server checks with it, the client is typed by it, the OpenAPI document is written from it.
 * What it does is in `src/api/handlers`.
 */
export interface Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  readonly id: string
  readonly method: Method
  /** With its parameters in braces: `/v1/endpoints/{name}`. */
  readonly path: `/${string}`
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** `any`: every valid API key. */
  readonly permission: Permission | 'any'
  readonly params: Params
  readonly query: Query
  /** Null: the call takes no body. */
  readonly body: Body | null
  /** Every field of the body has a default, so that it may be left out. */
  readonly isBodyOptional: boolean
  readonly status: 200 | 201 | 202 | 204
  readonly result: Result
  /** Beside those that any call can meet. */
  readonly errors: readonly ErrorCode[]
  /**
   * It is one transaction, together with its result when there is an `Idempotency-Key`. False where that is the handler's own business, where
   * nothing changes, and where the network is waited for.
   */
  readonly keepsResult: boolean
  /** Doing it twice with one `Idempotency-Key` is as good as once, so that a client may try again when an answer is lost. */
  readonly isRepeatable: boolean
  /** Fields of the result that are shown once, and so not kept with it. */
  readonly shownOnce: readonly string[]
  readonly maxBodyBytes: number
}

/** What a handler gets and a client gives. */
export type ParamsOf<Op> = Op extends { readonly params: infer Params extends z.ZodObject }
  ? z.output<Params>
  : never
export type QueryOf<Op> = Op extends { readonly query: infer Query extends z.ZodObject }
  ? z.output<Query>
  : never
export type BodyOf<Op> = Op extends { readonly body: infer Body } ? OutputOf<Exclude<Body, null>> : never
/** What a handler gives and a client gets. */
export type ResultOf<Op> = Op extends { readonly result: infer Result } ? OutputOf<Result> : never

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : never
