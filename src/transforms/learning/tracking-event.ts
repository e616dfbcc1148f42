import { type EventTime, parseEventTime } from './event-time.ts'
import { LearningError } from './learning-error.ts'
import { Section } from './section.ts'

/** The learner that an event is about, as far as it is known. */
export interface Learner {
  readonly username: string | null
  readonly userId: string | null
}

/**
 * A tracking event of a learning platform, in either form: routed (`name`, `timestamp`, `data`, everything else in `context`) or a line of the
 * tracking log (`event_type`, `time`, `event`, with user and session beside the context).
 */
export class TrackingEvent {
  readonly root: Section
  readonly context: Section
  /** `data` of a routed event, `event` of a log line. */
  readonly content: unknown
  #data: Section | null = null
  #time: EventTime | null = null

  constructor(value: unknown) {
    this.root = new Section(value, '')
    this.context = this.root.section('context')
    this.content = parsedContent(this.root.value('data') ?? this.root.value('event'))
  }

  /** The content as an object, which it is for every kind except a problem checked in the browser. */
  get data(): Section {
    this.#data ??= new Section(this.content, this.root.value('data') === undefined ? 'event' : 'data')
    return this.#data
  }

  get time(): EventTime {
    this.#time ??= parseEventTime(this.root.text('timestamp') ?? this.root.requiredText('time'))
    return this.#time
  }

  get courseId(): string | undefined {
    return this.context.text('course_id') ?? this.#ofData((data) => data.text('course_id'))
  }

  get requiredCourseId(): string {
    return this.courseId ?? this.context.requiredText('course_id')
  }

  get sessionId(): string | undefined {
    return this.context.text('session') ?? this.root.text('session')
  }

  get source(): string | undefined {
    return this.context.text('event_source') ?? this.root.text('event_source')
  }

  /**
   * Enrolments and grades concern `data.user_id` or `data.username`, exams `data.attempt_user_id`. This may not be the user who clicked: an
   * instructor's click grades a student. If the two differ, other fields about the user who clicked must not be used.
   */
  get learner(): Learner {
    const actingName = this.context.text('username') ?? this.root.text('username')
    const actingId = this.context.id('user_id') ?? this.root.id('user_id')
    const subjectName = this.#ofData((data) => data.text('username'))
    const subjectId = this.#ofData((data) => data.id('user_id') ?? data.id('attempt_user_id'))
    if (areOthers(subjectId, actingId) || areOthers(subjectName, actingName)) {
      return { username: subjectName ?? null, userId: subjectId ?? null }
    }
    const username = subjectName ?? actingName ?? null
    const userId = subjectId ?? actingId ?? null
    if (username === null && userId === null) {
      throw new LearningError(
        'learning_anonymous',
        'The event has neither a user name nor a user id. It comes from a visitor who is not signed in, and a statement needs a learner.',
      )
    }
    return { username, userId }
  }

  #ofData<Value>(read: (data: Section) => Value): Value | undefined {
    const isObject = typeof this.content === 'object' && this.content !== null && !Array.isArray(this.content)
    return isObject ? read(this.data) : undefined
  }
}

function areOthers(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

/** Browsers send their part of a log line as JSON in a string. Any other string is returned unchanged. */
function parsedContent(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[{[]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    throw new LearningError(
      'learning_bad_json',
      'The event field is a text that starts like JSON but is not valid JSON.',
    )
  }
}

/** The kind of an event, by the first of its names for which `isKind` is true; otherwise its name. */
export function kindOf(event: TrackingEvent, isKind: (name: string) => boolean): string {
  const names = [event.root.text('name'), event.root.text('event_type')].filter((name) => name !== undefined)
  const [first] = names
  if (first === undefined) throw new LearningError('learning_missing_field', 'The event has no name.')
  return names.find(isKind) ?? first
}
