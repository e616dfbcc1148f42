import { isDeepStrictEqual } from 'node:util'
import { defaultLimits } from '../../src/engine/limits.ts'
import type { TalliedRequest, TallyReceiver } from '../support/processes/tally-receiver.ts'
import type { ApiBooks } from './api-publisher.ts'
import type { FinalRun, FinalState, ProbeAttempt } from './final-states.ts'
import type { FleetLog } from './fleet.ts'
import type { OperationEnd, Pause } from './operators.ts'
import { outerChecks } from './outer-invariants.ts'
import type { PublisherBooks } from './publishers.ts'
import { batchEndpoint, concurrencyOf, limitedEndpoint, numberOf } from './receivers.ts'
import type { ScheduleEnd } from './schedules.ts'
import type { CrewLog } from './work-crew.ts'

/** Everything that the run left behind. */
export interface Evidence {
  readonly books: PublisherBooks
  readonly states: ReadonlyMap<string, FinalState>
  readonly probes: readonly ProbeAttempt[]
  readonly receiver: TallyReceiver
  readonly fleet: FleetLog
  readonly endpoints: readonly string[]
  readonly operations: readonly OperationEnd[]
  readonly pauses: readonly Pause[]
  /** The ids of replays that count as delivered. */
  readonly replays: readonly string[]
  readonly api: ApiBooks
  readonly messagesByKey: ReadonlyMap<string, number>
  readonly secrets: { readonly checked: number; readonly leaks: readonly string[] }
  readonly crew: CrewLog
  readonly begun: ReadonlyMap<number, number>
  readonly leasesLost: number
  readonly runs: ReadonlyMap<number, FinalRun>
  readonly schedules: readonly ScheduleEnd[]
  /** The runs of schedules that were begun. */
  readonly ticked: ReadonlySet<string>
}

export interface Verdict {
  readonly invariant: string
  readonly checked: number
  readonly violations: readonly string[]
}

const settleBatch = 1000
/** A fault is felt from its beginning until nodes have been declared dead, shards taken and the backlog worked off. */
const aftermathMs = 7000
const promptMs = 3000

type Check = (evidence: Evidence) => Verdict

/** Each accepted message is final in one way or still owed, and what the database calls delivered has arrived. */
const nothingVanishes: Check = ({ books, states, receiver }) => {
  const violations: string[] = []
  const inBatches = acceptedInBatches(receiver)
  for (const { id, endpoint, payload } of books.accepted.values()) {
    const state = states.get(id)
    if (state === undefined) {
      violations.push(`${id} (${endpoint}) isn't stored at all`)
      continue
    }
    const { successes, letter, isOwed, isExpired, isCancelled } = state
    // A person may have settled it. One that was redriven lives on as a delivery.
    const isDead = letter !== null && letter.state !== 'redriven'
    if (successes === 0 && !isDead && !isOwed && !isExpired && !isCancelled) {
      violations.push(`${id} (${endpoint}) is neither final nor owed`)
    }
    const hasArrived =
      endpoint === batchEndpoint ? inBatches.has(numberOf(payload)) : receiver.hasAccepted(id)
    if (successes > 0 && !hasArrived) {
      violations.push(`${id} (${endpoint}) counts as delivered, but the receiver never accepted it`)
    }
  }
  return { invariant: '1 nothing vanishes', checked: books.accepted.size, violations }
}

/** The numbers of the messages that came in batches which were taken. */
function acceptedInBatches(receiver: TallyReceiver): Set<number> {
  const taken = receiver.requests.filter(
    ({ endpoint, status }) => endpoint === batchEndpoint && status === 200,
  )
  return new Set(taken.flatMap(({ body }) => (body as unknown[]).map(numberOf)))
}

/** Forced deletes end what is owed as cancelled, also what was committed after them. */
const deletesLeaveNothing: Check = ({ books, states }) => {
  const temporary = [...books.accepted.values()].filter(({ endpoint }) => endpoint.startsWith('temporary'))
  const cancelled = temporary.filter(({ id }) => states.get(id)?.isCancelled === true)
  return {
    invariant: `deleted endpoints owe nothing (${cancelled.length} cancelled)`,
    checked: temporary.length,
    violations: temporary
      .filter(({ id }) => states.get(id)?.isOwed === true)
      .map(({ id, endpoint }) => `${id} (${endpoint}) is still owed`),
  }
}

const everythingIsSettledInTheEnd: Check = ({ books, states }) => ({
  invariant: '1 nothing is owed after healing',
  checked: books.accepted.size,
  violations: [...books.accepted.values()]
    .filter(({ id }) => states.get(id)?.isOwed === true)
    .map(({ id, endpoint }) => `${id} (${endpoint}) is still owed`),
})

const rolledBackIsNeverSeen: Check = ({ books, states, receiver }) => ({
  invariant: '2 a rolled-back message is never seen',
  checked: books.rolledBack.length,
  violations: books.rolledBack
    .filter((id) => states.has(id) || receiver.requestsOf(id).length > 0)
    .map((id) => `${id} was rolled back, but ${states.has(id) ? 'is stored' : 'was sent'}`),
})

const fewAreSentTwice: Check = ({ receiver, fleet, endpoints }) => {
  const inFlight = endpoints.reduce((sum, endpoint) => sum + concurrencyOf(endpoint), 0)
  const interruptions = fleet.kills + fleet.fencedAtMs.length
  const bound = interruptions * (inFlight + settleBatch)
  const { duplicateCount } = receiver
  return {
    invariant: `3 few are sent twice (${duplicateCount}; ${interruptions} interruptions)`,
    checked: receiver.requests.length,
    violations:
      duplicateCount > bound
        ? [`${duplicateCount} were sent twice; the interruptions explain at most ${bound}`]
        : [],
  }
}

/** While a probe is out nothing else is sent to its endpoint. */
const probesStandAlone: Check = ({ probes, receiver }) => {
  const violations: string[] = []
  let checked = 0
  const byEndpoint = grouped(receiver.requests, ({ endpoint }) => endpoint)
  for (const { id, endpoint, attempt } of probes) {
    const matches = receiver.requestsOf(id).filter((request) => request.attempt === attempt)
    const [probe] = matches
    // An attempt that was made twice leaves open which of the two was the probe.
    if (probe === undefined || matches.length > 1) continue
    checked += 1
    const untilMs = probe.endedAtMs ?? Number.POSITIVE_INFINITY
    const intruder = byEndpoint
      .get(endpoint)
      ?.find((other) => other !== probe && other.atMs > probe.atMs && other.atMs < untilMs)
    if (intruder !== undefined) {
      violations.push(`${endpoint}: ${intruder.webhookId} was sent while ${id} was out as a probe`)
    }
  }
  return { invariant: '4 probes stand alone', checked, violations }
}

/** Ids sort by age, and one publisher writes each key. */
const keysKeepTheirOrder: Check = ({ books, receiver }) => {
  const violations: string[] = []
  const keyed = [...books.accepted.values()].filter(({ key }) => key !== null)
  const lines = grouped(keyed, ({ endpoint, key }) => `${endpoint}/${key}`)
  for (const [line, messages] of lines) {
    const youngestFirst = messages
      .map(({ id }) => id)
      .sort()
      .toReversed()
    let earliestMs = Number.POSITIVE_INFINITY
    // Nothing older may start once something younger has.
    for (const id of youngestFirst) {
      const requests: readonly TalliedRequest[] = receiver.requestsOf(id)
      const late = requests.find((request) => request.atMs > earliestMs)
      if (late !== undefined) {
        violations.push(
          `${line}: ${id} was sent ${Math.round(late.atMs - earliestMs)} ms after a younger one`,
        )
      }
      earliestMs = Math.min(earliestMs, ...requests.map(({ atMs }) => atMs))
    }
  }
  return { invariant: '5 keys keep their order', checked: keyed.length, violations }
}

/** A frozen node's requests are still out when its heir begins: twice the limit is the documented overlap. */
const limitsHold: Check = ({ receiver, endpoints }) => ({
  invariant: '6 concurrency limits hold',
  checked: endpoints.length,
  violations: endpoints
    .filter((endpoint) => receiver.mostOut(endpoint) > 2 * concurrencyOf(endpoint))
    .map(
      (endpoint) => `${endpoint}: ${receiver.mostOut(endpoint)} at once, limit ${concurrencyOf(endpoint)}`,
    ),
})

/**
 * Over every second, as the receiver counts. A frozen node's last grants and its heir's first may fall into one, and what was held up on its
 * way arrives together with what follows it: twice the rate is the documented overlap.
 */
const ratesHold: Check = ({ receiver }) => {
  const { name, ratePerSecond } = limitedEndpoint
  const atMs = receiver.requests.filter(({ endpoint }) => endpoint === name).map((request) => request.atMs)
  const violations: string[] = []
  let most = 0
  let first = 0
  for (const [last, untilMs] of atMs.entries()) {
    while ((atMs[first] ?? 0) <= untilMs - 1000) first += 1
    most = Math.max(most, last - first + 1)
  }
  if (most > 2 * ratePerSecond)
    violations.push(`${name}: ${most} in one second, its rate is ${ratePerSecond}`)
  return {
    invariant: `6 rates hold (${most} of ${ratePerSecond} in a second)`,
    checked: atMs.length,
    violations,
  }
}

/** A node that is cut off learns of a pause, or fences itself, within so long. */
const pauseHeardMs = 4500

const pausesHold: Check = ({ receiver, pauses }) => {
  const heard = pauses
    .map(({ endpoint, fromMs, untilMs }) => ({ endpoint, fromMs: fromMs + pauseHeardMs, untilMs }))
    .filter(({ fromMs, untilMs }) => fromMs < untilMs)
  return {
    invariant: `nothing starts during a pause (${pauses.length} pauses)`,
    checked: heard.length,
    violations: heard.flatMap(({ endpoint, fromMs, untilMs }) => {
      const early = receiver.requests.filter(
        (request) => request.endpoint === endpoint && request.atMs > fromMs && request.atMs < untilMs,
      )
      return early.length === 0 ? [] : [`${endpoint}: ${early.length} were sent during a pause`]
    }),
  }
}

const deadLettersAreWhole: Check = ({ books, states }) => {
  const violations: string[] = []
  let checked = 0
  for (const { id, payload, key, isPlain } of books.accepted.values()) {
    const letter = states.get(id)?.letter
    if (letter === null || letter === undefined) continue
    checked += 1
    if (!isDeepStrictEqual(letter.body, payload)) violations.push(`${id}: another body`)
    if (key === null && isPlain !== true && letter.headers?.['x-torture'] === undefined)
      violations.push(`${id}: no headers`)
    if (letter.error === null || letter.error === '') violations.push(`${id}: no error`)
    if (letter.recordedAttempts < letter.attempt) {
      violations.push(`${id}: ${letter.recordedAttempts} of ${letter.attempt} attempts`)
    }
  }
  return { invariant: '7 dead letters are whole', checked, violations }
}

const endingsAreFinal: Check = ({ states }) => {
  const violations: string[] = []
  for (const { id, successes, letter, isOwed } of states.values()) {
    if (successes > 0 && isOwed) violations.push(`${id} is delivered and owed`)
    if (successes > 0 && letter?.state === 'open') violations.push(`${id} is delivered and dead`)
    if (letter?.state === 'open' && isOwed) violations.push(`${id} is dead and owed`)
  }
  return { invariant: '8 a stale decision changes nothing', checked: states.size, violations }
}

interface Times {
  readonly fromMs: number
  readonly untilMs: number
}

/**
 * When what happened to nodes and database could be felt, in order and without overlaps. A node that fenced itself though nobody had harmed
 * it (a machine under load does that) had been without a beat since `fenceAfterMs` before.
 */
function feltTimes({ carriedOut, fencedAtMs }: FleetLog): Times[] {
  const { fenceAfterMs } = defaultLimits
  const times = [
    ...carriedOut.map(({ fromMs, untilMs }) => ({ fromMs, untilMs: untilMs + aftermathMs })),
    ...fencedAtMs.map((atMs) => ({ fromMs: atMs - fenceAfterMs, untilMs: atMs + aftermathMs })),
  ].sort((one, other) => one.fromMs - other.fromMs)
  const joined: Times[] = []
  for (const { fromMs, untilMs } of times) {
    const last = joined.at(-1)
    if (last === undefined || last.untilMs < fromMs) joined.push({ fromMs, untilMs })
    else joined[joined.length - 1] = { fromMs: last.fromMs, untilMs: Math.max(last.untilMs, untilMs) }
  }
  return joined
}

/** How much of these times lies within the others. */
function overlapMs({ fromMs, untilMs }: Times, others: readonly Times[]): number {
  return others.reduce(
    (sum, other) => sum + Math.max(0, Math.min(untilMs, other.untilMs) - Math.max(fromMs, other.fromMs)),
    0,
  )
}

/**
 * What a healthy endpoint is owed comes promptly, whatever its neighbours do. The time in which a fault could be felt doesn't count; every other
 * moment that a message waited does, also when a fault came before or after it.
 */
const neighboursAreNotSlowed: Check = ({ books, receiver, fleet }) => {
  const violations: string[] = []
  const felt = feltTimes(fleet)
  let checked = 0
  let longestMs = 0
  for (const { id, endpoint, isDelayed, acceptedAtMs } of books.accepted.values()) {
    const [first] = receiver.requestsOf(id)
    if (first === undefined || isDelayed || !endpoint.startsWith('healthy')) continue
    const excusedMs = overlapMs({ fromMs: acceptedAtMs, untilMs: first.atMs }, felt)
    const tookMs = Math.round(first.atMs - acceptedAtMs - excusedMs)
    if (excusedMs === 0) checked += 1
    longestMs = Math.max(longestMs, tookMs)
    if (tookMs > promptMs) violations.push(`${id} (${endpoint}) took ${tookMs} ms, faults apart`)
  }
  return { invariant: `9 healthy endpoints are not slowed (${longestMs} ms at most)`, checked, violations }
}

const stopsAreClean: Check = ({ fleet }) => ({
  invariant: '10 a stop signal ends a node cleanly',
  checked: fleet.stops,
  violations: fleet.badStops,
})

const nodesSurvive: Check = ({ fleet }) => ({
  invariant: 'no node ends by itself',
  checked: fleet.starts,
  violations: fleet.crashes,
})

const checks: readonly Check[] = [
  nothingVanishes,
  everythingIsSettledInTheEnd,
  deletesLeaveNothing,
  rolledBackIsNeverSeen,
  fewAreSentTwice,
  probesStandAlone,
  keysKeepTheirOrder,
  limitsHold,
  ratesHold,
  pausesHold,
  deadLettersAreWhole,
  endingsAreFinal,
  neighboursAreNotSlowed,
  stopsAreClean,
  nodesSurvive,
  ...outerChecks,
]

/** `isLong`: long enough for everything to happen; then an invariant that judged nothing counts as violated. */
export function checkInvariants(evidence: Evidence, isLong: boolean): Verdict[] {
  return checks.map((check) => {
    const verdict = check(evidence)
    const isEmpty = isLong && verdict.checked === 0
    return isEmpty ? { ...verdict, violations: [...verdict.violations, 'nothing was judged'] } : verdict
  })
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
