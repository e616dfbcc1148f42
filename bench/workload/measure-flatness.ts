import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { deferred } from './deferred.ts'
import { HANDLER, MAX_PENDING } from './endpoints.ts'
import type { Payload } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'

const RETRIED_SHARE = 10
const RETRY_DELAY_MS = 100

/**
 * The rate of the last tenth of a long run divided by that of the first, while an open transaction of another session prevents the removal of dead
 * rows. One in ten fails at its first attempt. A fiftieth runs first as an untimed warm-up.
 */
export async function measureFlatness(context: SampleContext): Promise<Sample> {
  const { databaseUrl, backlogMessages: total } = context
  const bystander = new Client({ connectionString: databaseUrl })
  await bystander.connect()
  const window = total / 10
  const warmUp = total / 50
  const marksMs: number[] = []
  const finished = deferred<void>()
  let handled = 0
  const holdfast = new Holdfast({
    databaseUrl,
    handlers: {
      [HANDLER]: ({ payload, attempt }) => {
        if (attempt === 1 && (payload as Payload).sequence % RETRIED_SHARE === 0) throw new Error('not yet')
        handled++
        if (handled === total + warmUp) finished.resolve()
        if (handled >= warmUp && (handled - warmUp) % window === 0) marksMs.push(performance.now())
      },
    },
  })
  try {
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: HANDLER,
      transport: 'function',
      retry: { strategy: 'fixed', baseDelayMs: RETRY_DELAY_MS, jitter: 'none' },
      limits: { maxPending: MAX_PENDING },
    })
    // A transaction id, and a snapshot that it keeps.
    await bystander.query('begin isolation level repeatable read')
    await bystander.query('select pg_current_xact_id()')
    await sendPayloads(holdfast, HANDLER, total + warmUp)
    await refreshStatistics(databaseUrl)
    await checkpoint(databaseUrl)
    await holdfast.start()
    await finished.promise
    await bystander.query('rollback')
    const ratesPerSecond = marksMs
      .slice(1)
      .map((mark, index) => (window / (mark - (marksMs[index] ?? 0))) * 1000)
    const [first = Number.NaN] = ratesPerSecond
    const last = ratesPerSecond.at(-1) ?? Number.NaN
    return {
      value: last / first,
      details: {
        messages: total,
        firstPerSecond: first,
        lastPerSecond: last,
        slowestPerSecond: Math.min(...ratesPerSecond),
      },
      settings: { retriedShare: 1 / RETRIED_SHARE, retryDelayMs: RETRY_DELAY_MS },
    }
  } finally {
    await holdfast.stop()
    await bystander.end()
  }
}
