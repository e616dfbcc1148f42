import type { HandlerEnd } from './handler-ending.ts'
import { failureOf } from './handler-ending.ts'

/**
 * Returns the outcome of each run of a batch. The handler returns one result per run, in the same order, where an `Error` fails only its run; or it
 * returns nothing, which is success for all.
 */
export function endingsOfBatch(job: string, returned: unknown, size: number): readonly HandlerEnd[] {
  if (returned === undefined || returned === null) return Array.from({ length: size }, () => succeeded(null))
  if (!Array.isArray(returned) || returned.length !== size) {
    const what = Array.isArray(returned) ? `${returned.length} results` : typeof returned
    const error = new Error(
      `runBatch of the job "${job}" returned ${what} for ${size} runs. Return one result for each run, in their order, or nothing.`,
    )
    return Array.from({ length: size }, () => failureOf(error))
  }
  return returned.map((result: unknown) => (result instanceof Error ? failureOf(result) : succeeded(result)))
}

function succeeded(result: unknown): HandlerEnd {
  return { ending: { kind: 'succeeded' }, code: null, error: null, result }
}
