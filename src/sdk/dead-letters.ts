import { adviceForId } from '../core/delivery/id-advice.ts'
import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import {
  type DiscardInput,
  discardInput,
  type ResolveInput,
  resolveInput,
} from '../core/operations/letter-inputs.ts'
import {
  type DeadLetterFilter,
  type DeadLetterQuery,
  deadLetterFilter,
  deadLetterQuery,
} from '../core/operations/list-filter.ts'
import { type RecipientRow, readRecipients } from '../storage/criticality.ts'
import type { Database } from '../storage/database.ts'
import {
  type DeadLetterGroupRow,
  type DeadLetterRow,
  type DeadLetterSummaryRow,
  groupDeadLetters,
  readDeadLetterHistory,
  readDeadLetters,
  redriveLetter,
  settleLetter,
  summariseDeadLetters,
} from '../storage/dead-letters.ts'
import { readAttempts } from '../storage/deliveries.ts'
import { readEventBody } from '../storage/events.ts'
import { type GroupDetails, readGroupDetails } from '../storage/letter-groups.ts'
import { beforeEverything } from '../storage/page.ts'
import { withReason } from '../storage/with-reason.ts'
import {
  type Attempt,
  type Criticality,
  criticalityOf,
  fromMemory,
  type Outcome,
  outcomeOf,
  toAttempt,
} from './attempt.ts'
import type { Because } from './endpoints.ts'
import { type StoredMessage, toStoredMessage } from './events.ts'
import { type LetterTrial, tryLetters } from './letter-trial.ts'
import { checkedFilter, invalidFilter, knownId, lookFor, onDatabase, type Page, readPage } from './page.ts'
import type { PreviewGate } from './preview-gate.ts'
import type { Routes } from './routes.ts'

/** A delivery that failed for good. */
export interface DeadLetter {
  readonly id: string
  /** `dlv_…`, or `run_…` of a job. */
  readonly deliveryId: string
  readonly messageId: string
  /** The message that this one replays. */
  readonly replayOf: string | null
  /** Null if the endpoint has been deleted, or if this is a job's run. */
  readonly endpoint: string | null
  /** The job whose run failed. */
  readonly job: string | null
  readonly queue: string | null
  readonly route: string | null
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly state: 'open' | 'redriven' | 'resolved' | 'discarded' | 'erased'
  /** Why it died: `permanent`, `retries_exhausted`, `gave_up`, `gone`, `schema`, `transform`, `endpoint_full`, … */
  readonly reason: string
  /** Class of the last attempt. */
  readonly class: Outcome
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
  /** Equal for errors that differ only in ids, numbers and hosts. */
  readonly fingerprint: string
  readonly criticality: Criticality
  readonly priority: number
  readonly orderingKey: string | null
  /** Whether later messages of its ordering key wait until it is settled. */
  readonly blocksKey: boolean
  /** How many attempts were made, over all redrives. */
  readonly attempts: number
  readonly redrives: number
  /** How many of the redrives were scheduled ones, for a critical dead letter. */
  readonly resends: number
  readonly redrivenDeliveryId: string | null
  readonly createdAt: Date
  readonly settledAt: Date | null
  readonly settledBy: string | null
  readonly note: string | null
  readonly action: string | null
}

export interface DeadLetterDetail extends Omit<DeadLetter, 'attempts'> {
  /** All attempts, over all redrives, oldest first. */
  readonly attempts: readonly Attempt[]
  /** The last request as rendered: truncated, secrets redacted. */
  readonly request: Readonly<Record<string, unknown>> | null
  /** The response to the last attempt (`status`, `headers`, `body`), as long as that attempt is kept. */
  readonly response: Readonly<Record<string, unknown>> | null
  /** Null only if the letter has been settled and its partition was dropped. */
  readonly message: StoredMessage | null
  /** For a run that a broker dead-lettered: the `x-death` header of its message, newest entry first. */
  readonly brokerHistory?: readonly Readonly<Record<string, unknown>>[]
}

export interface Redriven {
  /** The redelivery: `dlv_…` for `deliveries.get`, or, for a job, the same as `runId`. */
  readonly deliveryId: string
  /** `run_…` for `runs.get`; null for an endpoint's letter. */
  readonly runId: string | null
}

export interface DeadLetterGroup {
  readonly fingerprint: string
  readonly endpoint: string | null
  readonly queue: string | null
  readonly count: number
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
  /** False if the filter was applied only to the newest 10,000 letters and there are more: then the group may be larger. */
  readonly isComplete: boolean
  /** The newest letter of the group. */
  readonly sample: {
    readonly id: string
    readonly reason: string
    readonly class: Outcome
    readonly statusCode: number | null
    readonly errorCode: string | null
    readonly error: string | null
  }
}

export type DeadLetterSummary = DeadLetterSummaryRow

/** An endpoint with undelivered critical events: dead and unsettled, or pending for longer than an hour. */
export interface Recipient extends Omit<RecipientRow, 'oldestMessageId'> {
  readonly count: number
  readonly oldestMessageId: string
}

export interface DeadLettersOptions {
  readonly database: () => Database
  readonly actor: string
  readonly routes: Routes
  readonly previews: PreviewGate
}

const maxGroups = 500
const defaultGroups = 50
const maxAttemptsShown = 2000

/** A group with details. */
export interface DetailedGroup extends Omit<DeadLetterGroup, 'isComplete'> {
  /** Letters added in each of the last 24 hours, oldest first; each value at most 100. */
  readonly series: readonly number[]
  /** The routes of the newest dead letters. */
  readonly routes: readonly string[]
  /** The last change to the endpoint or one of its routes, if it was at most 5 minutes before the first dead letter. */
  readonly precededBy: { readonly at: Date; readonly action: string; readonly subject: string } | null
}

export interface GroupPage extends Page<DetailedGroup> {
  /** False if the filter was applied only to the newest 10,000 dead letters and there are more. */
  readonly isComplete: boolean
}

/** Messages that couldn't be delivered: inspect, redeliver or settle them. */
export class DeadLetters {
  readonly #options: DeadLettersOptions

  constructor(options: DeadLettersOptions) {
    this.#options = options
  }

  /**
   * Newest first.
   *
   * @example await holdfast.deadLetters.list({ endpoint: 'crm', state: 'open', statusCode: 422 })
   */
  async list(query: DeadLetterQuery = {}): Promise<Page<DeadLetter>> {
    const checked = checkedFilter(deadLetterQuery, query)
    return readPage(this.#options.database(), 'dead_letters', 'dlt', checked, readDeadLetters, toDeadLetter)
  }

  /** Returns the letter with its message and every attempt. */
  async get(id: string): Promise<DeadLetterDetail> {
    const letterId = knownId('dlt', id, deadLetterNotFound)
    return onDatabase(this.#options.database(), async (database) => {
      const [row] = await readDeadLetters(database, [letterId])
      const history = await readDeadLetterHistory(database, letterId)
      if (row === undefined || history === undefined) throw deadLetterNotFound(id)
      const ids = [row.deliveryId, ...(row.redrivenDeliveryId === null ? [] : [row.redrivenDeliveryId])]
      const prefix = prefixOf(row)
      const stored = (await readAttempts(database, ids, maxAttemptsShown)).map((each) =>
        toAttempt(each, prefix),
      )
      const body = await readEventBody(database, row.messageId)
      const attempts = joinAttempts(
        history.attempts.map((each) => fromMemory(each, prefix)),
        stored,
      )
      return {
        ...toDeadLetter(row),
        attempts,
        request: history.request,
        response: lastResponse(attempts),
        message: body === undefined ? null : toStoredMessage(body),
        ...(history.brokerHistory !== null && { brokerHistory: history.brokerHistory }),
      }
    })
  }

  /** Groups letters by error fingerprint and endpoint, the largest group first; open letters only, unless the filter has a state. */
  async groups(filter: DeadLetterFilter = {}): Promise<readonly DeadLetterGroup[]> {
    const checked = checkedFilter(deadLetterFilter, filter)
    return onDatabase(this.#options.database(), async (database) => {
      const rows = await groupDeadLetters(database, { state: 'open', ...checked }, maxGroups)
      return rows.map(toGroup)
    })
  }

  /** Like `groups`, in pages; each group has its last 24 hours, its routes, and the last change right before it began. */
  async groupPage(
    query: DeadLetterFilter & {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    } = {},
  ): Promise<GroupPage> {
    const { limit = defaultGroups, cursor, ...filter } = query
    const { state = 'open', ...rest } = checkedFilter(deadLetterFilter, filter)
    const checked = { ...rest, state }
    const isAfter = groupsAfter(cursor)
    return onDatabase(this.#options.database(), async (database) => {
      const rows = await groupDeadLetters(database, checked, maxGroups)
      const left = rows.filter(isAfter)
      const page = left.slice(0, limit)
      const details = await readGroupDetails(database, page, checked.state)
      const last = page.at(-1)
      return {
        data: page.map((row, place) => toDetailedGroup(row, details[place])),
        nextCursor: left.length > limit && last !== undefined ? `${last.count}.${last.sampleId}` : null,
        isComplete: rows.every(({ isComplete }) => isComplete),
      }
    })
  }

  /** Renders a sample of the newest open letters that match a filter, with the current routes. Sends nothing. */
  async trial(filter: DeadLetterFilter, options: { readonly sample?: number } = {}): Promise<LetterTrial> {
    const checked = { ...checkedFilter(deadLetterFilter, filter), state: 'open' }
    const { database, routes, previews } = this.#options
    return previews.run(() =>
      onDatabase(database(), async (opened) => {
        const page = await lookFor(opened, 'dead_letters', checked, beforeEverything, options.sample ?? 20)
        return tryLetters(opened, await readDeadLetters(opened, page.ids), routes)
      }),
    )
  }

  /**
   * Redelivers the letter, applying the current transform. The letter becomes `redriven`; repeated or concurrent calls deliver once. Receivers see
   * the same `webhook-id`, handlers of a job the same `context.id`.
   */
  async redrive(id: string, { reason }: Because = {}): Promise<Redriven> {
    knownId('dlt', id, deadLetterNotFound)
    const { actor } = this.#options
    return onDatabase(this.#options.database(), async (database) => {
      const deliveryId = await withReason(database, reason, (inside) => redriveLetter(inside, id, actor))
      return { deliveryId, runId: deliveryId.startsWith('run_') ? deliveryId : null }
    })
  }

  /** Settles the letter as resolved: it needs no delivery any more. The user and the time are stored. */
  async resolve(id: string, input: ResolveInput = {}): Promise<DeadLetterDetail> {
    const { note = null, action = null } = checkedFilter(resolveInput, input)
    return this.#settle(id, { state: 'resolved', note, action })
  }

  /** Discards the letter. It stays visible until retention deletes it. */
  async discard(id: string, input: DiscardInput): Promise<DeadLetterDetail> {
    const { reason } = checkedFilter(discardInput, input)
    return this.#settle(id, { state: 'discarded', note: reason, action: 'discard' })
  }

  async #settle(id: string, settlement: Parameters<typeof settleLetter>[2]): Promise<DeadLetterDetail> {
    knownId('dlt', id, deadLetterNotFound)
    await onDatabase(this.#options.database(), (database) =>
      settleLetter(database, id, settlement, this.#options.actor),
    )
    return this.get(id)
  }

  /** Lists critical events that are waiting, longest waiting first. */
  async recipients(): Promise<readonly Recipient[]> {
    const rows = await onDatabase(this.#options.database(), readRecipients)
    return rows.map((row) => ({
      ...row,
      count: row.deadLetters + row.overdue,
      oldestMessageId: formatId('msg', row.oldestMessageId),
    }))
  }

  /** One row for each endpoint and queue that has letters. */
  async summary(): Promise<readonly DeadLetterSummary[]> {
    return onDatabase(this.#options.database(), summariseDeadLetters)
  }
}

/** The letter stores every attempt without its details; the attempt's own row has the details, until its partition is dropped. */
function joinAttempts(remembered: readonly Attempt[], stored: readonly Attempt[]): Attempt[] {
  const keyOf = ({ deliveryId, attempt }: Attempt) => `${deliveryId}#${attempt}`
  const joined = new Map(remembered.map((attempt) => [keyOf(attempt), attempt]))
  for (const attempt of stored) joined.set(keyOf(attempt), attempt)
  return [...joined.values()].sort(
    (first, second) =>
      first.startedAt.getTime() - second.startedAt.getTime() || first.attempt - second.attempt,
  )
}

function lastResponse(attempts: readonly Attempt[]): Readonly<Record<string, unknown>> | null {
  const response = attempts.findLast(({ detail }) => detail?.['response'] !== undefined)?.detail?.['response']
  return (response ?? null) as Readonly<Record<string, unknown>> | null
}

function toGroup(row: DeadLetterGroupRow): DeadLetterGroup {
  const { fingerprint, endpoint, queue, count, firstSeenAt, lastSeenAt, isComplete } = row
  const { sampleId, reason, outcome, statusCode, errorCode, error } = row
  return {
    fingerprint,
    endpoint,
    queue,
    count,
    firstSeenAt,
    lastSeenAt,
    isComplete,
    sample: {
      id: formatId('dlt', sampleId),
      reason,
      class: outcomeOf(outcome),
      statusCode,
      errorCode,
      error,
    },
  }
}

function toDetailedGroup(row: DeadLetterGroupRow, details: GroupDetails | undefined): DetailedGroup {
  const { isComplete: _, ...group } = toGroup(row)
  const { series = [], routes = [], changeAt, changeAction, changeSubject } = details ?? {}
  return {
    ...group,
    series,
    routes,
    precededBy:
      changeAt == null ? null : { at: changeAt, action: changeAction ?? '', subject: changeSubject ?? '' },
  }
}

/** A cursor is the size and the newest letter of the last group, because groups are sorted by these. */
function groupsAfter(cursor: string | undefined): (row: DeadLetterGroupRow) => boolean {
  if (cursor === undefined) return () => true
  const [count, sampleId] = cursor.split('.').map(Number)
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(sampleId)) {
    throw invalidFilter([{ path: 'cursor', message: 'must be the nextCursor of the previous page' }])
  }
  return (row) => row.count < Number(count) || (row.count === count && row.sampleId < Number(sampleId))
}

/** A job's delivery is a run. */
function prefixOf({ queue }: DeadLetterRow): 'dlv' | 'run' {
  return queue === null ? 'dlv' : 'run'
}

function toDeadLetter(row: DeadLetterRow): DeadLetter {
  const { id, deliveryId, messageId, redrivenDeliveryId, replayId, outcome, criticality, ...rest } = row
  return {
    ...rest,
    id: formatId('dlt', id),
    deliveryId: formatId(prefixOf(row), deliveryId),
    messageId: formatId('msg', replayId ?? messageId),
    replayOf: replayId === null ? null : formatId('msg', messageId),
    class: outcomeOf(outcome),
    criticality: criticalityOf(criticality),
    redrivenDeliveryId: redrivenDeliveryId === null ? null : formatId(prefixOf(row), redrivenDeliveryId),
  }
}

export function deadLetterNotFound(id: string): HoldfastError {
  return new HoldfastError(
    'dead_letter_not_found',
    `There is no dead letter "${id}". ${adviceForId(id, 'dlt') ?? 'It may have been settled and removed by retention.'}`,
    { deadLetter: id },
  )
}
