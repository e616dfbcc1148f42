import type { ApiProblem } from './api-problem.ts'

const maxRetries = 4

/** For reads that a person waits for while typing: a server that is busy with other checks has time a moment later. */
export function retryBusy(retries: number, problem: ApiProblem): boolean {
  return problem.status === 503 && retries < maxRetries
}
