import { matchesEventType, parseEventTypePattern } from '../../core/routes/event-type-pattern.ts'
import type { CompiledTransform, TransformError, TransformInput, TransformResult } from '../transform.ts'
import { createLearners, type Identity, type Learners } from './learners.ts'
import type { LearningConfig } from './learning-config.ts'
import { LearningError } from './learning-error.ts'
import { anyKey, mappedNames, type Names, noNames, type ReadTable, tableNames } from './names.ts'
import { compileOverrides, type Overrides } from './overrides.ts'
import { Platform } from './platform.ts'
import { kindOf, type Learner, TrackingEvent } from './tracking-event.ts'

/** The values from which both formats are created. */
export interface Ingredients {
  readonly event: TrackingEvent
  readonly kind: string
  readonly identity: Identity
  readonly platform: Platform
  /** The course's id if no name is known; null if the event belongs to no course. */
  readonly courseName: string | null
  readonly overrides: Overrides | null
}

export interface LearningFormat<Item> {
  /** `xapi` or `caliper`, for messages. */
  readonly name: string
  readonly isKind: (kind: string) => boolean
  /** False if what it writes contains the time of sending. */
  readonly isCacheable: boolean
  make(ingredients: Ingredients): readonly Item[]
  write(
    items: readonly Item[],
    nowMs: number,
  ): {
    readonly body: string
    readonly contentType: string
    readonly headers: Readonly<Record<string, string>>
    readonly parts?: () => readonly string[]
  }
}

export interface LearningOptions {
  readonly readTable: ReadTable
  readonly nowMs: () => number
}

interface Prepared {
  readonly event: TrackingEvent
  readonly kind: string
  readonly learner: Learner
}

/** Maximum number of reads for the names of one batch. */
const maxReads = 5

/** A transform of tracking events: parses the event, looks up its learner and course, and leaves the rest to the format. */
export class LearningTransform<Item> implements CompiledTransform {
  readonly isCacheable: boolean
  readonly #config: LearningConfig
  readonly #format: LearningFormat<Item>
  readonly #nowMs: () => number
  readonly #platform: Platform
  readonly #learners: Learners
  readonly #courses: Names
  readonly #isListed: (kind: string) => boolean
  readonly #overridesOf: ReturnType<typeof compileOverrides>

  constructor(config: LearningConfig, format: LearningFormat<Item>, { readTable, nowMs }: LearningOptions) {
    this.isCacheable = format.isCacheable
    this.#config = config
    this.#format = format
    this.#nowMs = nowMs
    this.#platform = new Platform(config.platformUrl)
    this.#learners = createLearners(config.actor, readTable, nowMs)
    this.#courses = createCourseNames(config.courses, readTable, nowMs)
    this.#isListed = eventFilter(config.events)
    this.#overridesOf = compileOverrides(config.overrides)
  }

  items(input: TransformInput): readonly Item[] | Promise<readonly Item[]> {
    const prepared = this.#prepare(input)
    const use = () => this.#finish(prepared, input)
    const late = this.#loading([prepared])
    if (late === null) return use()
    const fail = (error: unknown) => {
      throw error
    }
    return this.#whenLoaded([prepared], use, fail, late)
  }

  render(input: TransformInput): TransformResult | Promise<TransformResult> {
    const written = (made: readonly Item[]): TransformResult => ({
      ok: true,
      rendered: this.#format.write(made, input.nowMs),
    })
    const lateError = (error: unknown): TransformResult => ({
      ok: false,
      error: error instanceof LearningError ? this.#explained(error) : lookUpFailed(error),
    })
    try {
      const made = this.items(input)
      return made instanceof Promise ? made.then(written, lateError) : written(made)
    } catch (error) {
      return { ok: false, error: this.#explained(error) }
    }
  }

  async renderBatch(
    inputs: readonly TransformInput[],
    maxRecords = Number.POSITIVE_INFINITY,
  ): Promise<TransformResult> {
    const refused: TransformError[] = []
    const prepared: [number, TransformInput, Prepared][] = []
    const attempt = (index: number, work: () => void) => {
      try {
        work()
      } catch (error) {
        refused.push(this.#explained(error, index))
      }
    }
    for (const [index, input] of inputs.entries())
      attempt(index, () => prepared.push([index, input, this.#prepare(input)]))
    const write = (): TransformResult => {
      const made: Item[] = []
      let taken = inputs.length
      for (const [index, input, each] of prepared) {
        let items: readonly Item[] = []
        attempt(index, () => {
          items = this.#finish(each, input)
        })
        if (made.length > 0 && made.length + items.length > maxRecords) {
          taken = index
          break
        }
        made.push(...items)
      }
      const rendered = this.#format.write(made, inputs[0]?.nowMs ?? this.#nowMs())
      // Messages left for another request are refused there, if at all.
      return { ok: true, rendered, refused: refused.filter(({ index = 0 }) => index < taken), taken }
    }
    return this.#whenLoaded<TransformResult>(
      prepared.map(([, , each]) => each),
      write,
      (error) => ({ ok: false, error: lookUpFailed(error) }),
    )
  }

  async close(): Promise<void> {}

  #prepare(input: TransformInput): Prepared {
    const event = new TrackingEvent(parsed(input.body))
    const kind = kindOf(event, this.#format.isKind)
    if (!this.#isListed(kind)) {
      throw new LearningError(
        'learning_event_not_listed',
        `Events "${kind}" are not in the list of the route.`,
      )
    }
    if (!this.#format.isKind(kind)) {
      throw new LearningError(
        'learning_unknown_event',
        `There is no ${this.#format.name} mapping for events "${kind.slice(0, 200)}".`,
      )
    }
    return { event, kind, learner: event.learner }
  }

  #finish({ event, kind, learner }: Prepared, input: TransformInput): readonly Item[] {
    const { courseId } = event
    const courses = this.#courses
    return this.#format.make({
      event,
      kind,
      platform: this.#platform,
      identity: this.#learners.identify(learner),
      courseName: courseId === undefined ? null : (courses.get(courseId) ?? courses.get(anyKey) ?? courseId),
      overrides: this.#overridesOf === null ? null : this.#overridesOf(input),
    })
  }

  /** Reads the names that these events need from tables; null if none is missing. */
  #loading(prepared: readonly Prepared[]): Promise<unknown> | null {
    const people = new Set(prepared.flatMap(({ learner }) => this.#learners.unknown(learner)))
    const places = new Set(
      prepared.flatMap(({ event: { courseId } }) =>
        courseId === undefined ? [] : this.#courses.unknown([courseId, anyKey]),
      ),
    )
    if (people.size === 0 && places.size === 0) return null
    return Promise.all([
      ...(people.size > 0 ? [this.#learners.load([...people])] : []),
      ...(places.size > 0 ? [this.#courses.load([...places])] : []),
    ])
  }

  /**
   * Reads the names that are needed, then uses them in the same turn of the event loop. Other batches may evict
   * names from the cache during a read; those are read again.
   */
  async #whenLoaded<Result>(
    prepared: readonly Prepared[],
    use: () => Result,
    failed: (error: unknown) => Result,
    first = this.#loading(prepared),
  ): Promise<Result> {
    let late = first
    for (let reads = 0; reads < maxReads; reads += 1) {
      if (late === null) return use()
      try {
        await late
      } catch (error) {
        return failed(error)
      }
      late = this.#loading(prepared)
    }
    if (late === null) return use()
    return failed(new Error('more names are in use at once than are cached.'))
  }

  #explained(error: unknown, index?: number): TransformError {
    const place = index === undefined ? {} : { index }
    if (error instanceof LearningError) {
      const { code, message } = error
      return { code, message, ...(isSkipped(error, this.#config) && { isSkipped: true }), ...place }
    }
    throw error
  }
}

/** The database or the table failed, not the event: the attempt is retried. */
function lookUpFailed(error: unknown): TransformError {
  const message = error instanceof Error ? error.message : String(error)
  return { code: 'learning_look_up_failed', message: `A look-up failed: ${message}`, isRetryable: true }
}

function isSkipped({ code }: LearningError, config: LearningConfig): boolean {
  const outcome = {
    learning_event_not_listed: 'skip' as const,
    learning_unknown_event: config.onUnknown,
    learning_anonymous: config.onAnonymous,
  }[code as string]
  return (outcome ?? config.onInvalid) === 'skip'
}

function createCourseNames(
  courses: LearningConfig['courses'],
  readTable: ReadTable,
  nowMs: () => number,
): Names {
  if (courses.from === 'map') return mappedNames(courses.map ?? {})
  if (courses.from === 'table') return tableNames(courses.table ?? '', readTable, nowMs)
  return noNames
}

function eventFilter(patterns: readonly string[] | undefined): (kind: string) => boolean {
  if (patterns === undefined) return () => true
  const compiled = patterns.flatMap((text) => {
    const pattern = parseEventTypePattern(text)
    return pattern.ok ? [pattern.value] : []
  })
  return (kind) => compiled.some((pattern) => matchesEventType(pattern, kind))
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    throw new LearningError('learning_bad_json', 'The payload is not JSON.')
  }
}
