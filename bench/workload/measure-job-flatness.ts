import { Client } from 'pg'
import { holdfastJobs } from '../contenders/holdfast-jobs.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { deferred } from './deferred.ts'
import { makePayloads } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'

/**
 * The rate of the last fifth of half a million runs divided by that of the first, while an open transaction of another session prevents the removal
 * of dead rows. A twentieth runs first as an untimed warm-up.
 */
export async function measureJobFlatness(context: SampleContext): Promise<Sample> {
  const total = context.backlogMessages / 2
  const window = total / 5
  const warmUp = total / 20
  const bystander = new Client({ connectionString: context.databaseUrl })
  await bystander.connect()
  const session = await holdfastJobs.open({ ...context, arm: 'holdfast-jobs' }, 'throughput')
  try {
    // A transaction id, and a snapshot that it keeps.
    await bystander.query('begin isolation level repeatable read')
    await bystander.query('select pg_current_xact_id()')
    await session.enqueueAll(makePayloads(total + warmUp))
    await refreshStatistics(context.databaseUrl)
    await checkpoint(context.databaseUrl)
    const marksMs: number[] = []
    const finished = deferred<void>()
    let handled = 0
    await session.startWorkers(() => {
      handled++
      if (handled >= warmUp && (handled - warmUp) % window === 0) marksMs.push(performance.now())
      if (handled === total + warmUp) finished.resolve()
    })
    await finished.promise
    await bystander.query('rollback')
    const rates = marksMs.slice(1).map((mark, index) => (window / (mark - (marksMs[index] ?? 0))) * 1000)
    const [first = Number.NaN] = rates
    const last = rates.at(-1) ?? Number.NaN
    return {
      value: last / first,
      details: {
        runs: total,
        firstPerSecond: first,
        lastPerSecond: last,
        slowestPerSecond: Math.min(...rates),
      },
      settings: session.settings,
    }
  } finally {
    await session.close()
    await bystander.end()
  }
}
