import type { z } from 'zod'
import type { CallInput } from '../../src/client/call-input.ts'
import { noteAnswer, noteOutage } from '../live/outage.ts'
import { noteServerTime } from '../live/server-clock.ts'
import { ApiProblem, toProblem } from './api-problem.ts'
import { type CallName, calls, type OperationOf } from './calls.ts'
import { basePath, goToSignIn, session } from './session.ts'

/** As it travels: a time is text. */
export type Answer<Name extends CallName> =
  OperationOf<Name> extends { readonly result: infer Result extends z.ZodType } ? z.input<Result> : never

export type Input<Name extends CallName> = Omit<
  CallInput<OperationOf<Name>>,
  'signal' | 'timeoutMs' | 'idempotencyKey'
>

interface PlainInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

const timeoutMs = 30_000
/** Until a node has heard of a change that another one made. */
const ownChangeMs = 2000
let changedAtMs = Number.NEGATIVE_INFINITY

/**
 * Pages share answers of the last second with all others that are open: the node keeps one until its stream reports anything. Right after a change
 * made here, only a new one will do.
 */
function acceptsShared(): boolean {
  return performance.now() - changedAtMs > ownChangeMs
}

/** Makes one call with the session's cookie. Throws an `ApiProblem`. */
export async function call<Name extends CallName>(
  name: Name,
  input: Input<Name>,
  signal?: AbortSignal,
): Promise<Answer<Name>> {
  const { params = {}, query = {}, body } = input as PlainInput
  const [method = '', template = ''] = calls[name].split(' ')
  const deadline = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  if (method !== 'GET') changedAtMs = Number.POSITIVE_INFINITY
  try {
    response = await fetch(urlOf(template, params, query), {
      method,
      headers: {
        accept: 'application/json',
        ...(method === 'GET'
          ? acceptsShared() && { 'cache-control': 'max-age=1' }
          : { 'x-csrf-token': session.csrfToken ?? '' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw told(
      new ApiProblem(0, 'unreachable', 'Holdfast does not answer. Is it running, and is the network up?'),
    )
  } finally {
    if (method !== 'GET') changedAtMs = performance.now()
  }
  noteServerTime(response.headers.get('date'))
  if (response.status === 401) {
    goToSignIn()
    throw new ApiProblem(401, 'unauthenticated', 'The session has ended. Sign in again.')
  }
  if (!response.ok) throw told(toProblem(response.status, text))
  noteAnswer()
  return (text === '' ? undefined : JSON.parse(text)) as Answer<Name>
}

function told(problem: ApiProblem): ApiProblem {
  if (problem.isOutage) noteOutage(problem)
  else noteAnswer()
  return problem
}

function urlOf(
  template: string,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    search.set(key, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const text = search.toString()
  return `${basePath}${path.slice(1)}${text === '' ? '' : `?${text}`}`
}
