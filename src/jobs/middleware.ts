import type { RunContext } from './run-context.ts'

/** One call of a handler, for one run or for the runs of a batch. */
export interface HandlerCall {
  readonly job: string
  readonly runs: readonly { readonly input: unknown; readonly context: RunContext }[]
}

/**
 * Code around every handler of a worker: it calls `next` and returns what that resolves to. If it throws, the runs of the call fail.
 *
 * @example
 * const timed: JobMiddleware = async ({ job }, next) => {
 *   const beganMs = performance.now()
 *   try {
 *     return await next()
 *   } finally {
 *     console.log(job, performance.now() - beganMs)
 *   }
 * }
 */
export type JobMiddleware = (call: HandlerCall, next: () => Promise<unknown>) => unknown

/** Calls the handler inside all middleware, the first outermost. Without middleware, a synchronous handler stays synchronous. */
export function callWithin(
  middleware: readonly JobMiddleware[],
  call: HandlerCall,
  handler: () => unknown,
): unknown {
  if (middleware.length === 0) return handler()
  const callFrom = async (place: number): Promise<unknown> => {
    const layer = middleware[place]
    return layer === undefined ? handler() : layer(call, () => callFrom(place + 1))
  }
  return callFrom(0)
}
