import type { Check, Evidence } from '../evidence.ts'
import type { ScheduleEnd } from '../schedules.ts'

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
    violations.push(...schedule.failures.map((failure) => `${name}: could not be fired: ${failure}`))
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
