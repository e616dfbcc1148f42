import type { Check, Evidence, Verdict } from '../evidence.ts'
import { type CrewLog, maxHeldRuns, type WorkerLife } from '../work-crew.ts'
import { whyLeftOut } from './nothing-lost.ts'

/** Between a worker's signal on its standard output and our hearing of it, on a busy machine. */
const hearingMs = 1000

export const runsAreNotLost: Check = ({ crew, runs, workers }) => ({
  row: '1 runs are not lost',
  ...judgeRuns(crew, workers, runs),
})

export const brokerRunsAreNotLost: Check = ({ brokerCrew, runs, leftOut }) => {
  const { log, lives } = brokerCrew ?? noCrew
  const dead = [...log.accepted].filter((n) => runs.get(n)?.isDead === true).length
  return {
    row: `1 runs over the broker are not lost (${dead} dead)`,
    ...judgeRuns(log, lives, runs),
    ...unjudgedWithoutBroker(leftOut),
  }
}

const noCrew: NonNullable<Evidence['brokerCrew']> = {
  log: { keys: new Map(), accepted: new Set(), faults: [], starts: 0 },
  lives: [],
}

function unjudgedWithoutBroker(leftOut: Evidence['leftOut']): { unjudged?: string } {
  const why = whyLeftOut(leftOut, 'broker')
  return why === undefined ? {} : { unjudged: why }
}

function judgeRuns(
  crew: CrewLog,
  workers: readonly WorkerLife[],
  runs: Evidence['runs'],
): Pick<Verdict, 'checked' | 'violations'> {
  const violations: string[] = []
  const times = new Map<number, number>()
  for (const { begun } of workers) for (const { n } of begun) times.set(n, (times.get(n) ?? 0) + 1)
  for (const n of crew.accepted) {
    const run = runs.get(n)
    const begun = times.get(n) ?? 0
    if (run === undefined) violations.push(`run ${n} isn't stored at all`)
    else if (run.isOwed) violations.push(`run ${n} is still owed`)
    else if (run.successes === 0 && !run.isDead) violations.push(`run ${n} is neither done nor owed`)
    else if (run.successes > begun) {
      violations.push(`run ${n} counts as done ${run.successes} times, but was begun ${begun} times`)
    }
  }
  return { checked: crew.accepted.size, violations }
}

/** How much later than another process we may hear of a run that a process began before it. */
const skewMs = 250

/** Within an ordering key no run is begun before the one that was enqueued before it. */
export const runsOfAKeyAreInOrder: Check = ({ crew, workers }) => ({
  row: '5 runs of a key are begun in order',
  ...judgeOrder(crew, workers),
})

export const brokerRunsOfAKeyAreInOrder: Check = ({ brokerCrew, leftOut }) => {
  const { log, lives } = brokerCrew ?? noCrew
  return {
    row: '5 runs of a key over the broker are begun in order',
    ...judgeOrder(log, lives),
    ...unjudgedWithoutBroker(leftOut),
  }
}

function judgeOrder(log: CrewLog, workers: readonly WorkerLife[]): Pick<Verdict, 'checked' | 'violations'> {
  const first = new Map<number, { readonly atMs: number; readonly worker: string }>()
  for (const { worker, begun } of workers) {
    for (const { n, atMs } of begun) {
      if (atMs < (first.get(n)?.atMs ?? Number.POSITIVE_INFINITY)) first.set(n, { atMs, worker })
    }
  }
  const latest = new Map<string, { readonly n: number; readonly atMs: number; readonly worker: string }>()
  const violations: string[] = []
  let checked = 0
  for (const n of [...log.accepted].toSorted((one, other) => one - other)) {
    const key = log.keys.get(n)
    const begin = first.get(n)
    if (key === undefined || begin === undefined) continue
    checked += 1
    const before = latest.get(key)
    const allowedMs = before?.worker === begin.worker ? 0 : skewMs
    if (before !== undefined && begin.atMs < before.atMs - allowedMs)
      violations.push(
        `run ${n} of ${key} was begun by ${begin.worker} at ${Math.round(begin.atMs)} ms, before run ${before.n}, which ${before.worker} began at ${Math.round(before.atMs)} ms`,
      )
    if (before === undefined || begin.atMs > before.atMs) latest.set(key, { n, ...begin })
  }
  return { checked, violations }
}

/** A moment after which what a worker had begun may be begun again. */
interface WorkerInterruption {
  readonly life: WorkerLife
  readonly kind: 'killed' | 'lost its lease'
  readonly fromMs: number
  readonly atMs: number
}

/**
 * A run is begun again only when the worker that began it before was killed or lost its lease; and each time only so many as one worker can
 * hold.
 */
export const fewRunsAreBegunTwice: Check = ({ workers }) => judgeRepetitions('runs', workers)

export const fewBrokerRunsAreBegunTwice: Check = ({ brokerCrew, leftOut }) => ({
  ...judgeRepetitions('runs over the broker', (brokerCrew ?? noCrew).lives),
  ...unjudgedWithoutBroker(leftOut),
})

function judgeRepetitions(runs: string, workers: readonly WorkerLife[]): Verdict {
  const interruptions = interruptionsOf(workers)
  const violations: string[] = []
  const counts = new Map<WorkerInterruption, number>()
  const begun = workers
    .flatMap((life) => life.begun.map(({ n, atMs }) => ({ life, n, atMs })))
    .sort((one, other) => one.atMs - other.atMs)
  const last = new Map<number, (typeof begun)[number]>()
  let again = 0
  for (const begin of begun) {
    const earlier = last.get(begin.n)
    last.set(begin.n, begin)
    if (earlier === undefined) continue
    again += 1
    const causes = interruptions.filter(
      ({ life, fromMs, atMs }) =>
        life === earlier.life && earlier.atMs >= fromMs && earlier.atMs <= atMs && begin.atMs >= fromMs,
    )
    const cause = causes.toSorted((one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0))[0]
    if (cause !== undefined) counts.set(cause, (counts.get(cause) ?? 0) + 1)
    else
      violations.push(
        `run ${begin.n} was begun by ${earlier.life.worker} at ${Math.round(earlier.atMs)} ms and by ${begin.life.worker} at ${Math.round(begin.atMs)} ms; no interruption explains it`,
      )
  }
  for (const [{ life, kind, atMs }, count] of counts) {
    if (count > maxHeldRuns)
      violations.push(
        `${life.worker} ${kind} at ${Math.round(atMs)} ms: ${count} runs were begun again, it can hold ${maxHeldRuns}`,
      )
  }
  const most = Math.max(0, ...counts.values())
  return {
    row: `3 few ${runs} are begun twice (${again}, at most ${most} after one of ${interruptions.length} interruptions)`,
    checked: begun.length,
    violations,
  }
}

function interruptionsOf(workers: readonly WorkerLife[]): WorkerInterruption[] {
  return workers.flatMap((life) => {
    const lost = life.leaseLostAtMs.map((atMs) => ({
      life,
      kind: 'lost its lease' as const,
      fromMs: atMs - life.lossMs,
      atMs: atMs + hearingMs,
    }))
    if (life.killedAtMs === null) return lost
    const { killedAtMs } = life
    return [
      ...lost,
      { life, kind: 'killed' as const, fromMs: killedAtMs - life.lossMs, atMs: killedAtMs + hearingMs },
    ]
  })
}
