import type { z } from 'zod'
import { HoldfastError } from '../core/errors.ts'
import { type JobInput, type JobSettings, jobName, parseJobSettings } from '../core/jobs/job-settings.ts'
import type { Problem } from '../core/problem.ts'
import type { RunContext } from './run-context.ts'

/** Returning is success, and what it returns is kept as the run's result; throwing is failure. */
export type JobHandler<Input, Result = unknown> = (
  input: Input,
  context: RunContext,
) => Result | Promise<Result>

export interface JobDefinition<Schema extends z.ZodType, Result = unknown> extends JobInput {
  readonly name: string
  /** What the input looks like; checked when a run is enqueued and again before it is run. */
  readonly input?: Schema
  /** Left out in a process that only enqueues. */
  readonly run?: JobHandler<z.output<Schema>, Result>
}

/** Any job, whatever its input. */
export interface AnyJob {
  readonly name: string
  readonly settings: JobSettings
  readonly hasHandler: boolean
  check(json: string): readonly Problem[]
  run(json: unknown, context: RunContext): unknown
}

/** A job whose runs take this input and end with this result. Both types are for the compiler alone. */
export interface JobOf<Input, Result = unknown> extends AnyJob {
  readonly inputType: Input
  readonly resultType: Result
}

/** A job as code knows it: made by `defineJob`. */
export class Job<Input = unknown, Parsed = Input, Result = unknown> implements JobOf<Input, Result> {
  readonly name: string
  readonly settings: JobSettings
  readonly #schema: z.ZodType | null
  readonly #handler: JobHandler<Parsed, Result> | null

  constructor(
    name: string,
    settings: JobSettings,
    schema: z.ZodType | null,
    handler: JobHandler<Parsed, Result> | null,
  ) {
    this.name = name
    this.settings = settings
    this.#schema = schema
    this.#handler = handler
  }

  /** What a run of this job gets; only its type is of use. */
  declare readonly inputType: Input

  /** What its handler returns; only its type is of use. */
  declare readonly resultType: Result

  get hasHandler(): boolean {
    return this.#handler !== null
  }

  /** The same job with its handler: for definitions that enqueuing processes share. */
  handledBy<Handled extends Result>(handler: JobHandler<Parsed, Handled>): Job<Input, Parsed, Handled> {
    return new Job<Input, Parsed, Handled>(this.name, this.settings, this.#schema, handler)
  }

  /** What is wrong with this input, given as JSON; nothing when it fits. */
  check(json: string): readonly Problem[] {
    return this.#schema === null ? [] : problems(this.#schema.safeParse(JSON.parse(json)))
  }

  /** Runs the handler on an input that came as JSON. An input that doesn't fit can never succeed. */
  run(json: unknown, context: RunContext): unknown {
    if (this.#handler === null) throw new Error(`the job "${this.name}" has no handler`)
    if (this.#schema === null) return this.#handler(json as Parsed, context)
    const parsed = this.#schema.safeParse(json)
    if (!parsed.success) throw new InvalidInputError(this.name, problems(parsed))
    return this.#handler(parsed.data as Parsed, context)
  }
}

/** The stored input doesn't fit the job's schema: a permanent failure. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError'

  constructor(job: string, found: readonly Problem[]) {
    super(`The input doesn't fit the job "${job}". ${listed(found)}`)
  }
}

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
export function defineJob<Schema extends z.ZodType = z.ZodType, Result = unknown>(
  definition: JobDefinition<Schema, Result>,
): Job<z.input<Schema>, z.output<Schema>, Result> {
  const { name, input, run, ...rest } = definition
  const isNamed = jobName.safeParse(name)
  const settings = parseJobSettings(rest)
  if (!isNamed.success || !settings.ok) {
    const found: Problem[] = isNamed.success
      ? []
      : isNamed.error.issues.map(({ message }) => ({ path: 'name', message }))
    if (!settings.ok) found.push(...settings.problems)
    throw new HoldfastError('invalid_job', `The job "${name}" is invalid. ${listed(found)}`, {
      job: name,
      problems: found,
    })
  }
  return new Job<z.input<Schema>, z.output<Schema>, Result>(name, settings.value, input ?? null, run ?? null)
}

function problems(result: z.ZodSafeParseResult<unknown>): Problem[] {
  if (result.success) return []
  return result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
}

function listed(found: readonly Problem[]): string {
  return found.map(({ path, message }) => `${path || '(input)'}: ${message}`).join('; ')
}
