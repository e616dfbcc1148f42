import type { z } from 'zod'
import type { Permission } from '../core/access/roles.ts'
import type { ErrorCode } from '../core/errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One call of the HTTP API. The server validates with it, the client is typed by it, and the OpenAPI document is generated from it.
 * `src/api/handlers` has its implementation.
 */
export interface Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  readonly id: string
  readonly method: Method
  /** Parameters are in braces: `/v1/endpoints/{name}`. */
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
  /** Every field of the body has a default, so the body may be omitted. */
  readonly isBodyOptional: boolean
  readonly status: 200 | 201 | 202 | 204
  readonly result: Result
  /** Errors in addition to those of every call. */
  readonly errors: readonly ErrorCode[]
  /**
   * The call is one transaction, which also stores the result if there is an `Idempotency-Key`. False if the handler does that itself, if nothing
   * changes, or if the call waits for the network.
   */
  readonly keepsResult: boolean
  /** Executing it twice with one `Idempotency-Key` has the effect of once, so that a client may retry after a lost response. */
  readonly isRepeatable: boolean
  /** Fields that are shown only once, and so are not stored with the result. */
  readonly shownOnce: readonly string[]
  readonly maxBodyBytes: number
}

/** What a handler receives and a client sends. */
export type ParamsOf<Op> = Op extends { readonly params: infer Params extends z.ZodObject }
  ? z.output<Params>
  : never
export type QueryOf<Op> = Op extends { readonly query: infer Query extends z.ZodObject }
  ? z.output<Query>
  : never
export type BodyOf<Op> = Op extends { readonly body: infer Body } ? OutputOf<Exclude<Body, null>> : never
/** What a handler returns and a client receives. */
export type ResultOf<Op> = Op extends { readonly result: infer Result } ? OutputOf<Result> : never

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : never
