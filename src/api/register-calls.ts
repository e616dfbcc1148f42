import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Operation } from '../contract/operation.ts'
import { isAllowed, rolesWith } from '../core/access/roles.ts'
import { HoldfastError } from '../core/errors.ts'
import { isStorable } from '../core/field.ts'
import { listProblems, type Problem, problemsOf } from '../core/problem.ts'
import type { Holdfast } from '../sdk/holdfast.ts'
import type { Management } from '../sdk/management.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'
import type { Caller } from './access/caller.ts'
import type { Call } from './call.ts'
import { exactPart, type ParsedBody, writeBody } from './exact-body.ts'
import { type Answer, keptResult } from './kept-result.ts'
import type { RecentAnswers } from './recent-answers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the contract that the route serves, if any. */
    readonly operation?: Operation
  }
  interface FastifyRequest {
    caller: Caller | null
    parsedBody: ParsedBody | null
  }
}

export interface OperationContext {
  readonly holdfast: Holdfast
  readonly database: () => Database
  readonly recent: RecentAnswers<Answer>
}

type AnyHandler = ((call: Call<never>) => Promise<unknown>) | AnyPreparedHandler

interface AnyPreparedHandler {
  readonly before: (call: Call<never>) => Promise<unknown>
  readonly perform: (call: Call<never>, prepared: unknown) => Promise<unknown>
}

const maxIdempotencyKeyLength = 255

/** Registers each operation of the contract as a route. */
export function registerCalls(
  app: FastifyInstance,
  groups: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  context: OperationContext,
): void {
  for (const [group, operations] of Object.entries(groups)) {
    for (const [name, described] of Object.entries(operations)) {
      registerOperation(app, described as Operation, handlers[group]?.[name] as AnyHandler, context)
    }
  }
}

function registerOperation(
  app: FastifyInstance,
  operation: Operation,
  handler: AnyHandler,
  context: OperationContext,
): void {
  const encode = resultEncoder(operation)
  app.route({
    method: operation.method,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    bodyLimit: operation.maxBodyBytes,
    config: { operation },
    handler: async (request, reply) => {
      const caller = allowedCaller(request, operation)
      const input = parseInput(request, operation)
      const callOn = (database: Database) =>
        new HandlerCall(request, reply, caller, input, { holdfast: context.holdfast, database })
      const isPlain = typeof handler === 'function'
      const prepared = isPlain ? undefined : await handler.before(callOn(context.database()))
      const perform = async (database: Database): Promise<Answer> => {
        const call = callOn(database)
        const result = await (isPlain ? handler(call) : handler.perform(call, prepared))
        return { status: operation.status, body: encode(result) }
      }
      if (!operation.keepsResult) {
        const read = () => perform(context.database())
        const acceptedAgeMs = acceptedAgeOf(request, operation)
        if (acceptedAgeMs === 0) return answer(reply, await read())
        // Results depend on the caller's role only, except for operations with the permission `any`, which may describe the caller and aren't shared.
        const key = `${caller.role} ${request.url}`
        return answer(reply, await context.recent.get(key, acceptedAgeMs, read))
      }
      return answer(reply, await writeOnce(request, reply, operation, caller, context, perform))
    },
  })
}

/** How old a response may be, from the caller's `Cache-Control: max-age`. Default 0: callers see their own writes. */
function acceptedAgeOf({ headers }: FastifyRequest, { method, permission }: Operation): number {
  if (method !== 'GET' || permission === 'any') return 0
  const [, seconds = '0'] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(headers['cache-control'] ?? '') ?? []
  return Number(seconds) * 1000
}

/** One transaction: a write of several steps is done completely or not at all, together with its stored response. */
async function writeOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  caller: Caller,
  context: OperationContext,
  perform: (database: Database) => Promise<Answer>,
): Promise<Answer> {
  const key = readIdempotencyKey(request)
  try {
    return await context.database().asOne(async (database) => {
      if (key === null) return perform(database)
      const { value = null, marked = value } = request.parsedBody ?? {}
      const body = writeBody(marked)
      const write = { owner: caller.owner, key, request: `${operation.method} ${request.url}\n${body}` }
      const kept = await keptResult(
        database,
        write,
        () => perform(database),
        (text) => withoutFields(text, operation.shownOnce),
      )
      if (kept.isReplay) reply.header('idempotency-replayed', 'true')
      return kept
    })
  } catch (error) {
    throw translateError(error)
  }
}

function allowedCaller(request: FastifyRequest, operation: Operation): Caller {
  const { caller } = request
  if (caller === null) throw new HoldfastError('unauthenticated', 'This operation needs an API key.')
  const { permission } = operation
  if (permission === 'any' || isAllowed(caller.role, permission)) return caller
  throw new HoldfastError(
    'forbidden',
    `The API key "${caller.name}" has the role ${caller.role}, and this operation needs one of: ${rolesWith(permission).join(', ')}.`,
    { permission },
  )
}

interface Input {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

function parseInput(request: FastifyRequest, operation: Operation): Input {
  const problems: Problem[] = []
  const parse = (schema: z.ZodType, value: unknown): unknown => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    problems.push(...problemsOf(parsed.error, { schema, input: value }))
    return undefined
  }
  for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
    // No name or id contains these characters, and PostgreSQL can't accept them in a query.
    if (!isStorable(value)) problems.push({ path: name, message: 'must not contain NUL or broken Unicode' })
  }
  const given = request.parsedBody?.value
  const input = {
    params: parse(operation.params, request.params),
    query: parse(operation.query, request.query),
    body:
      operation.body === null
        ? undefined
        : parse(operation.body, given === undefined && operation.isBodyOptional ? {} : given),
  }
  if (operation.body === null && given !== undefined) {
    problems.push({ path: '', message: 'this operation takes no body: leave it out' })
  }
  if (problems.length === 0) return input
  const listed = listProblems(problems, 'the body')
  throw new HoldfastError('invalid_request', `The request is invalid. ${listed}`, { problems })
}

/** A class, so that expensive parts are created on demand: publishing, the most frequent call, needs none of them. */
class HandlerCall implements Call<unknown> {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly caller: Caller
  readonly holdfast: Holdfast
  readonly idempotencyKey: string | null
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #database: Database

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller,
    input: Input,
    { holdfast, database }: { readonly holdfast: Holdfast; readonly database: Database },
  ) {
    this.params = input.params as never
    this.query = input.query as never
    this.body = input.body as never
    this.caller = caller
    this.holdfast = holdfast
    this.idempotencyKey = readIdempotencyKey(request)
    this.#request = request
    this.#reply = reply
    this.#database = database
  }

  get management(): Management {
    return this.holdfast.as(this.caller.actor, this.#database)
  }

  get signal(): AbortSignal {
    const gone = new AbortController()
    this.#reply.raw.once('close', () => gone.abort())
    return gone.signal
  }

  get afterCommit() {
    return (tell: () => void) => this.#database.afterCommit(tell)
  }

  get exact() {
    const body = this.#request.parsedBody ?? { value: this.body, marked: undefined }
    return (pick: (value: never) => unknown) => exactPart(body, pick)
  }
}

function readIdempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && key.length > 0 && key.length <= maxIdempotencyKeyLength) return key
  throw new HoldfastError('invalid_request', 'The Idempotency-Key header is invalid.', {
    problems: [
      {
        path: 'Idempotency-Key',
        message: `must be a single text of 1 to ${maxIdempotencyKeyLength} characters`,
      },
    ],
  })
}

/** Strips fields that are not in the contract. */
function resultEncoder({ status, result }: Operation): (given: unknown) => string | null {
  if (status === 204) return () => null
  let isPlain: boolean | undefined
  return (given) => {
    isPlain ??= !hasCodec(result)
    // If no field changes its form, `parse` gives the same result as `encode` in a quarter of the time.
    return writeBody(isPlain ? result.parse(given) : z.encode(result, given))
  }
}

function hasCodec(schema: z.ZodType): boolean {
  let found = false
  z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema }) => {
      found ||= zodSchema._zod.def.type === 'pipe'
    },
  })
  return found
}

function withoutFields(body: string, fields: readonly string[]): string {
  if (fields.length === 0) return body
  const kept = Object.entries(JSON.parse(body) as object).filter(([name]) => !fields.includes(name))
  return JSON.stringify(Object.fromEntries(kept))
}

function answer(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  reply.code(status)
  if (body === null) return reply.send()
  return reply.type('application/json; charset=utf-8').send(body)
}
