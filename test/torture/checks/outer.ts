import type { Check, Evidence } from '../evidence.ts'
import { replayEndpoint } from '../receivers.ts'
import type { ScheduleEnd } from '../schedules.ts'
import { fewRunsAreBegunTwice, runsAreNotLost } from './runs.ts'

/** Filter and as-of: no letter that came after the preview, no more than it counted, and the sums are right. */
const operationsKeepToTheirPreview: Check = ({ operations }) => {
  const violations: string[] = []
  for (const { actor, kind, previewed, operation, touched, unseen } of operations) {
    if (operation === null) {
      if (touched > 0)
        violations.push(`${actor}: there is no operation, but ${touched} letters carry its name`)
      continue
    }
    const { done, skipped, total, state } = operation
    if (unseen > 0)
      violations.push(`${actor} (${kind}): touched ${unseen} letters that came after its preview`)
    if (total > previewed)
      violations.push(`${actor} (${kind}): took on ${total}, its preview counted ${previewed}`)
    if (done > total) violations.push(`${actor} (${kind}): did ${done} of ${total}`)
    if (kind !== 'replay' && touched > done)
      violations.push(`${actor} (${kind}): says ${done}, touched ${touched}`)
    // What was resolved or discarded stays so: nobody else may have taken it over.
    if ((kind === 'resolve' || kind === 'discard') && touched !== done) {
      violations.push(`${actor} (${kind}): says ${done}, touched ${touched}`)
    }
    if (state === 'succeeded' && done + skipped !== total) {
      violations.push(`${actor} (${kind}): ${done} done and ${skipped} skipped of ${total}`)
    }
  }
  return { row: '11 bulk actions keep to their preview', checked: operations.length, violations }
}

const operationsEnd: Check = ({ operations }) => ({
  row: '11 bulk actions end, or were cancelled',
  checked: operations.filter(({ operation }) => operation !== null).length,
  violations: operations.flatMap(({ actor, kind, operation }) =>
    operation === null || operation.state === 'succeeded' || operation.state === 'cancelled'
      ? []
      : [`${actor} (${kind}) is ${operation.state}: ${operation.error ?? operation.waiting}`],
  ),
})

/** Every delivery that a replay made arrived, under an id of its own. */
const replaysArrive: Check = ({ operations, replays, ledger }) => {
  const ordered = operations.reduce(
    (sum, { kind, operation }) => sum + (kind === 'replay' ? (operation?.done ?? 0) : 0),
    0,
  )
  const violations = replays
    .filter((id) => !ledger.hasAccepted(replayEndpoint, id))
    .map((id) => `the replay ${id} counts as delivered, but was never accepted`)
  if (replays.length !== ordered) violations.push(`${ordered} were replayed, ${replays.length} delivered`)
  return { row: '1 replays arrive', checked: ordered, violations }
}

/** However often it was asked for: one key, one message, one answer. */
const oneKeyIsOneMessage: Check = ({ api, messagesByKey }) => {
  const violations: string[] = []
  for (const [key, ids] of api.answers) {
    const stored = messagesByKey.get(key) ?? 0
    if (ids.size > 1) violations.push(`${key} was answered with ${[...ids].join(', ')}`)
    if (stored > 1) violations.push(`${key} is stored ${stored} times`)
    if (ids.size === 1 && stored === 0) violations.push(`${key} was answered, but isn't stored`)
  }
  return { row: `one key is one message (${api.tries} tries)`, checked: api.answers.size, violations }
}

const noSecretLeaks: Check = ({ secrets }) => ({
  row: '12 no secret anywhere',
  checked: secrets.checked,
  violations: secrets.leaks,
})

/** After a fault of the database its connections come back one by one, and schedules are looked at every second. */
const reconnectMs = 3000
/** To fire a tick takes a look, a statement and a commit, by a process that must get its turn. */
const pulsesPerFiring = 5
const databaseIsAway: ReadonlySet<string> = new Set([
  'restart-database',
  'crash-database',
  'kill-backend',
  'promote-standby',
])

/** A tick is fired once, and none is left out but those that the catch-up policy gives up: several that nobody could fire in time. */
export const ticksFireOnce: Check = (evidence) => {
  const violations: string[] = []
  let givenUp = 0
  for (const schedule of evidence.schedules) {
    const { name, runs, fired, skipped } = schedule
    const ticks = new Set(runs.map(({ atMs }) => atMs))
    if (ticks.size < runs.length) violations.push(`${name}: ${runs.length} runs for ${ticks.size} ticks`)
    if (runs.length !== fired) violations.push(`${name}: says ${fired}, made ${runs.length} runs`)
    for (const { id, isOwed, isDead, successes } of runs) {
      if (isOwed || (successes === 0 && !isDead)) violations.push(`${name}: ${id} was never done`)
      else if (successes > 0 && !evidence.ticked.has(id))
        violations.push(`${name}: ${id} counts as done, but was never begun`)
    }
    const missing = ticksOf(schedule).filter((atMs) => !ticks.has(atMs))
    const unexplained = missing.filter(
      (atMs) => schedule.isEveryTickOwed || !couldNotBeFired(evidence, atMs, schedule.intervalMs),
    )
    givenUp += missing.length - unexplained.length
    if (unexplained.length > skipped) {
      const times = unexplained.map((atMs) => new Date(atMs).toISOString()).join(', ')
      violations.push(`${name}: no run for ${unexplained.length} ticks, ${skipped} were skipped: ${times}`)
    }
    const known = new Set(ticksOf(schedule))
    for (const { id, atMs } of runs) if (!known.has(atMs)) violations.push(`${name}: ${id} is for no tick`)
  }
  const checked = evidence.schedules.reduce((sum, { runs }) => sum + runs.length, 0)
  return { row: `a tick of a schedule fires once (${givenUp} given up)`, checked, violations }
}

function ticksOf({ firstAtMs, nextAtMs, intervalMs }: ScheduleEnd): number[] {
  const count = Math.max(0, Math.round((nextAtMs - firstAtMs) / intervalMs))
  return Array.from({ length: count }, (_, index) => firstAtMs + index * intervalMs)
}

/**
 * Whether between this tick and the next, by the database's clock, the database was away, its clock jumped, or the machine was so slow that
 * nobody got round to it.
 */
function couldNotBeFired({ fleet, clock, pulse }: Evidence, atMs: number, intervalMs: number): boolean {
  const nextMs = atMs + intervalMs
  const wasAway = fleet.struck.some(
    ({ kind, fromMs, untilMs }) =>
      databaseIsAway.has(kind) &&
      clock.databaseMs(fromMs) < nextMs &&
      clock.databaseMs(untilMs + reconnectMs) > atMs,
  )
  if (wasAway || clock.jumps.some(({ fromMs, toMs }) => fromMs < nextMs && toMs > atMs)) return true
  return clock
    .timesOf(atMs, nextMs)
    .some(({ fromMs, untilMs }) => pulsesPerFiring * pulse.worstMs(fromMs, untilMs) > intervalMs)
}

/** What holds for those around the nodes: operators, callers of the API, workers. */
export const outerChecks: readonly Check[] = [
  operationsKeepToTheirPreview,
  operationsEnd,
  replaysArrive,
  oneKeyIsOneMessage,
  noSecretLeaks,
  runsAreNotLost,
  fewRunsAreBegunTwice,
  ticksFireOnce,
]
