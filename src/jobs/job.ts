import type { z } from 'zod'
import { HoldfastError } from '../core/errors.ts'
import { type JobInput, type JobSettings, jobName, parseJobSettings } from '../core/jobs/job-settings.ts'
import type { Problem } from '../core/problem.ts'
import {
  type Isolation,
  type IsolationKind,
  importHandler,
  moduleAdvice,
  parseIsolation,
} from './isolation/isolation.ts'
import type { RunContext } from './run-context.ts'

const defaultBatchRuns = 100
/** The maximum of runs that a worker claims at once. */
const maxBatchRunsLimit = 2000

/** Returning is success, and the returned value is kept as the run's result; throwing is failure. */
export type JobHandler<Input, Result = unknown> = (
  input: Input,
  context: RunContext,
) => Result | Promise<Result>

/** One run of a batch. */
export interface BatchedRun<Input> {
  readonly input: Input
  readonly context: RunContext
}

/**
 * Takes several runs at once. It returns one result per run, in the same order; an `Error` among them fails only that run. Returning nothing is
 * success for all, throwing is failure for all.
 */
export type BatchHandler<Input, Result = unknown> = (
  runs: readonly BatchedRun<Input>[],
) => readonly (Result | Error)[] | void | Promise<readonly (Result | Error)[] | void>

interface NamedJob<Schema extends z.ZodType> extends JobInput {
  readonly name: string
  /** Schema of the input; checked when a run is enqueued and again before it runs. */
  readonly input?: Schema
}

/** A job whose handler is executed in the worker. */
export interface JobDefinition<Schema extends z.ZodType, Result = unknown> extends NamedJob<Schema> {
  /** Omitted in a process that only enqueues. */
  readonly run?: JobHandler<z.output<Schema>, Result>
  readonly runBatch?: undefined
  readonly maxBatchRuns?: undefined
  readonly isolation?: 'none' | undefined
  readonly module?: undefined
  readonly memoryLimitMb?: undefined
}

/** A job whose handler takes several runs at once. */
export interface BatchJobDefinition<Schema extends z.ZodType, Result = unknown> extends NamedJob<Schema> {
  readonly runBatch: BatchHandler<z.output<Schema>, Result>
  /** Maximum of runs per call; 100 by default. A call takes the runs that wait, and never waits for more. */
  readonly maxBatchRuns?: number
  readonly run?: undefined
  readonly isolation?: 'none' | undefined
  readonly module?: undefined
  readonly memoryLimitMb?: undefined
}

/** A job whose handler is executed in its own thread or process. */
export interface IsolatedJobDefinition<Schema extends z.ZodType> extends NamedJob<Schema> {
  /** Where the handler is executed: its crash, memory leak or endless loop ends this thread or process instead of the worker. */
  readonly isolation: IsolationKind
  /** The module that exports the handler, as default or as `run`: `new URL('./handler.js', import.meta.url)`, or a path. */
  readonly module: string | URL
  /** Limit of the handler's JavaScript heap; 512 by default. */
  readonly memoryLimitMb?: number
  readonly runBatch?: undefined
  readonly maxBatchRuns?: undefined
  readonly run?: "An isolated handler is named by its module: module: new URL('./handler.js', import.meta.url)"
}

/** Any job, whatever its input. */
export interface AnyJob {
  readonly name: string
  readonly settings: JobSettings
  readonly hasHandler: boolean
  check(json: string): readonly Problem[]
  run(json: unknown, context: RunContext): unknown
  /** Where the handler is executed; null, or missing in a job of an earlier version: in the worker. */
  readonly isolation?: Isolation | null
  /** Parses an input that was stored as JSON with the job's schema. */
  parseBySchema?(json: unknown): unknown
  /** A handler that takes several runs at once; null, or missing in a job of an earlier version: one at a time. */
  readonly batch?: JobBatch | null
}

export interface JobBatch {
  readonly handler: BatchHandler<unknown>
  readonly maxRuns: number
}

/** A job whose runs take this input and end with this result. Both types exist at compile time only. */
export interface JobOf<Input, Result = unknown> extends AnyJob {
  readonly inputType: Input
  readonly resultType: Result
}

/** A job defined in code, by `defineJob`. */
export class Job<Input = unknown, Parsed = Input, Result = unknown> implements JobOf<Input, Result> {
  readonly name: string
  readonly settings: JobSettings
  readonly #schema: z.ZodType | null
  readonly #handler: JobHandler<Parsed, Result> | null
  readonly isolation: Isolation | null
  readonly batch: JobBatch | null

  constructor(
    name: string,
    settings: JobSettings,
    schema: z.ZodType | null,
    handler: JobHandler<Parsed, Result> | null,
    isolation: Isolation | null = null,
    batch: JobBatch | null = null,
  ) {
    this.name = name
    this.settings = settings
    this.#schema = schema
    this.#handler = handler
    this.isolation = isolation
    this.batch = batch
  }

  /** The type of the input; has no value. */
  declare readonly inputType: Input

  /** The type of the handler's result; has no value. */
  declare readonly resultType: Result

  get hasHandler(): boolean {
    return this.#handler !== null || this.isolation !== null || this.batch !== null
  }

  /** Returns the same job with its handler: for definitions shared with processes that only enqueue. */
  handledBy<Handled extends Result>(handler: JobHandler<Parsed, Handled>): Job<Input, Parsed, Handled> {
    if (this.isolation !== null)
      throw new HoldfastError('invalid_job', `The job "${this.name}" is isolated: ${moduleAdvice}.`, {
        job: this.name,
      })
    return new Job<Input, Parsed, Handled>(this.name, this.settings, this.#schema, handler)
  }

  /** Validates an input given as JSON. Returns its problems; none if it is valid. */
  check(json: string): readonly Problem[] {
    return this.#schema === null ? [] : problems(this.#schema.safeParse(JSON.parse(json)))
  }

  /** Throws `InvalidInputError` if the input doesn't match the schema: no retry can succeed. */
  parseBySchema(json: unknown): unknown {
    if (this.#schema === null) return json
    const parsed = this.#schema.safeParse(json)
    if (!parsed.success) throw new InvalidInputError(this.name, problems(parsed))
    return parsed.data
  }

  /** Runs the handler in this thread, also an isolated one, on an input that was stored as JSON. */
  run(json: unknown, context: RunContext): unknown {
    const input = this.parseBySchema(json)
    if (this.#handler !== null) return this.#handler(input as Parsed, context)
    if (this.batch !== null) return this.#runAlone(this.batch, input, context)
    if (this.isolation === null) throw new Error(`the job "${this.name}" has no handler`)
    return importHandler(this.isolation.module).then((handler) => handler(input, context))
  }

  /** Runs a batch handler with one run. */
  async #runAlone({ handler }: JobBatch, input: unknown, context: RunContext): Promise<unknown> {
    const result = (await handler([{ input, context }]))?.[0]
    if (result instanceof Error) throw result
    return result
  }
}

/** The stored input doesn't match the job's schema: a permanent failure. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError'

  constructor(job: string, found: readonly Problem[]) {
    super(`The input does not match the schema of the job "${job}". ${listed(found)}`)
  }
}

const scheduleFields: readonly string[] = ['cron', 'schedule', 'everyMs', 'timezone']

/** In other libraries a job's definition has its cron. */
function withScheduleAdvice(problem: Problem): Problem {
  if (!scheduleFields.includes(problem.path)) return problem
  const message = `is not a known field: set a schedule beside the job, with holdfast.schedules.set({ name, job, cron })`
  return { ...problem, message }
}

/**
 * Declares a job whose handler takes several runs at once.
 *
 * @example
 * const index = defineJob({
 *   name: 'index',
 *   input: z.object({ id: z.string() }),
 *   maxBatchRuns: 500,
 *   runBatch: async (runs) => { await search.bulk(runs.map(({ input }) => input.id)) },
 * })
 */
export function defineJob<Schema extends z.ZodType = z.ZodType, Result = unknown>(
  definition: BatchJobDefinition<Schema, Result>,
): Job<z.input<Schema>, z.output<Schema>, Result>
/**
 * Declares a job whose handler is executed in its own thread or process.
 *
 * @example
 * const resize = defineJob({ name: 'resize', isolation: 'process', module: new URL('./resize.js', import.meta.url) })
 */
export function defineJob<Schema extends z.ZodType = z.ZodType, Result = unknown>(
  definition: IsolatedJobDefinition<Schema>,
): Job<z.input<Schema>, z.output<Schema>, Result>
/**
 * Declares a job. Its schema gives the type of the input at `enqueue` and in the handler; what the handler returns is the type of the result.
 *
 * @example
 * const sendInvoice = defineJob({
 *   name: 'send-invoice',
 *   input: z.object({ orderId: z.number() }),
 *   retry: { maxRetries: 5 },
 *   run: async ({ orderId }, { signal, logger }) => { … },
 * })
 * await holdfast.enqueue(sendInvoice, { orderId: 7 })
 */
// Last, because TypeScript explains a mistake by the last overload, and most jobs are plain.
export function defineJob<Schema extends z.ZodType = z.ZodType, Result = unknown>(
  definition: JobDefinition<Schema, Result>,
): Job<z.input<Schema>, z.output<Schema>, Result>
export function defineJob<Schema extends z.ZodType = z.ZodType, Result = unknown>(
  definition:
    | JobDefinition<Schema, Result>
    | BatchJobDefinition<Schema, Result>
    | IsolatedJobDefinition<Schema>,
): Job<z.input<Schema>, z.output<Schema>, Result> {
  const { name, input, run, runBatch, maxBatchRuns, isolation, module, memoryLimitMb, ...rest } = definition
  const where = parseIsolation({ isolation, module, memoryLimitMb }, (run ?? runBatch) !== undefined)
  const batchProblems = problemsOfHandlers({ run, runBatch, maxBatchRuns })
  const isNamed = jobName.safeParse(name)
  const settings = parseJobSettings(rest)
  if (!isNamed.success || !settings.ok || where.problems.length + batchProblems.length > 0) {
    const found: Problem[] = isNamed.success
      ? []
      : isNamed.error.issues.map(({ message }) => ({ path: 'name', message }))
    if (!settings.ok) found.push(...settings.problems.map(withScheduleAdvice))
    found.push(...where.problems, ...batchProblems)
    throw new HoldfastError('invalid_job', `The job "${name}" is invalid. ${listed(found)}`, {
      job: name,
      problems: found,
    })
  }
  const handler = typeof run === 'function' ? run : null
  return new Job<z.input<Schema>, z.output<Schema>, Result>(
    name,
    settings.value,
    input ?? null,
    handler,
    where.isolation,
    runBatch === undefined
      ? null
      : { handler: runBatch as BatchHandler<unknown>, maxRuns: maxBatchRuns ?? defaultBatchRuns },
  )
}

function problemsOfHandlers(given: {
  readonly run: unknown
  readonly runBatch: unknown
  readonly maxBatchRuns: number | undefined
}): Problem[] {
  const found: Problem[] = []
  for (const path of ['run', 'runBatch'] as const)
    if (given[path] !== undefined && typeof given[path] !== 'function')
      found.push({ path, message: 'must be a function' })
  if (given.run !== undefined && given.runBatch !== undefined)
    found.push({ path: 'runBatch', message: 'cannot be combined with run' })
  if (given.maxBatchRuns === undefined) return found
  if (given.runBatch === undefined) found.push({ path: 'maxBatchRuns', message: 'requires runBatch' })
  const isInRange =
    Number.isInteger(given.maxBatchRuns) && given.maxBatchRuns >= 1 && given.maxBatchRuns <= maxBatchRunsLimit
  if (!isInRange)
    found.push({ path: 'maxBatchRuns', message: `must be a whole number from 1 to ${maxBatchRunsLimit}` })
  return found
}

function problems(result: z.ZodSafeParseResult<unknown>): Problem[] {
  if (result.success) return []
  return result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
}

function listed(found: readonly Problem[]): string {
  return found.map(({ path, message }) => `${path || '(input)'}: ${message}`).join('; ')
}
