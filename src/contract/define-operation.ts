import { z } from 'zod'
import type { Permission } from '../core/access/roles.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { Method, Operation } from './operation.ts'

interface Described<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Result extends z.ZodType,
> {
  readonly id: string
  readonly method: Method
  readonly path: `/${string}`
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly permission: Permission | 'any'
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly isBodyOptional?: boolean
  readonly status?: 200 | 201 | 202 | 204
  readonly result?: Result
  readonly errors?: readonly ErrorCode[]
  readonly keepsResult?: boolean
  readonly isRepeatable?: boolean
  readonly shownOnce?: readonly string[]
  readonly maxBodyBytes?: number
}

const defaultMaxBodyBytes = 1024 * 1024
const nothing = z.strictObject({})

/** Fills in the defaults of an operation. The result of a GET isn't stored; that of every other operation is, unless set otherwise. */
export function defineOperation<
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = z.ZodUndefined,
  Result extends z.ZodType = z.ZodUndefined,
>(described: Described<Params, Query, Body, Result>): Operation<Params, Query, Body, Result> {
  const keepsResult = described.keepsResult ?? described.method !== 'GET'
  return {
    ...described,
    params: described.params ?? (nothing as unknown as Params),
    query: described.query ?? (nothing as unknown as Query),
    body: described.body ?? null,
    isBodyOptional: described.isBodyOptional ?? false,
    status: described.status ?? (described.result === undefined ? 204 : 200),
    result: described.result ?? (z.undefined() as unknown as Result),
    errors: described.errors ?? [],
    keepsResult,
    isRepeatable: described.isRepeatable ?? (keepsResult || described.method === 'GET'),
    shownOnce: described.shownOnce ?? [],
    maxBodyBytes: described.maxBodyBytes ?? defaultMaxBodyBytes,
  }
}
