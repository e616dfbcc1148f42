import { HoldfastError } from '../core/errors.ts'
import { listProblems, type Problem } from '../core/problem.ts'
import type { WorkerOptions } from './worker-options.ts'

const maxConcurrency = 100_000
const maxNameLength = 255

/** Rejects options that would otherwise cause a worker that does nothing, a database error, or failures of all its runs. */
export function checkWorkerOptions(options: WorkerOptions): void {
  const problems = [
    ...problemsOfJobs(options.jobs),
    ...problemsOfNumbers(options),
    ...problemsOfLayers(options),
  ]
  if (problems.length === 0) return
  const listed = listProblems(problems)
  throw new HoldfastError('invalid_options', `The options of the worker are invalid. ${listed}`, { problems })
}

function problemsOfJobs(jobs: unknown): Problem[] {
  if (!Array.isArray(jobs)) return [{ path: 'jobs', message: 'must be a list of jobs from defineJob' }]
  const byName = new Map<string, unknown>()
  return jobs.flatMap((job: unknown, place) => {
    const path = `jobs.${place}`
    if (!isJob(job)) return [{ path, message: 'must be a job from defineJob' }]
    const former = byName.get(job.name) ?? job
    byName.set(job.name, job)
    return former === job ? [] : [{ path, message: `is a second job with the name "${job.name}"` }]
  })
}

/** An application may have a second copy of this package, so `instanceof` is unreliable. */
function isJob(job: unknown): job is { readonly name: string } {
  return typeof job === 'object' && job !== null && 'settings' in job && 'name' in job
}

function problemsOfNumbers({ concurrency = 1, name = 'default' }: WorkerOptions): Problem[] {
  const problems: Problem[] = []
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > maxConcurrency)
    problems.push({ path: 'concurrency', message: `must be a whole number from 1 to ${maxConcurrency}` })
  if (typeof name !== 'string' || name.length < 1 || name.length > maxNameLength)
    problems.push({ path: 'name', message: `must be text of 1 to ${maxNameLength} characters` })
  return problems
}

function problemsOfLayers({ middleware = [] }: WorkerOptions): Problem[] {
  return middleware.flatMap((layer: unknown, place) =>
    typeof layer === 'function' ? [] : [{ path: `middleware.${place}`, message: 'must be a function' }],
  )
}
