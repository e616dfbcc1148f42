import * as fc from 'fast-check'
import type { PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { claimRuns } from '../../../src/storage/claim-runs.ts'
import { Database } from '../../../src/storage/database.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
const ran: unknown[] = []
const job = defineJob({ name: 'noted', run: async (input) => void ran.push(input) })

beforeEach(async () => {
  ran.length = 0
  jobs = await JobsRig.create()
  await jobs.rig.client().enqueueBatch(job, [])
})
afterEach(() => jobs.stop())

async function inSessions(work: (first: PoolClient, second: PoolClient) => Promise<void>): Promise<void> {
  const { pool } = jobs.rig.database
  const first = await pool.connect()
  const second = await pool.connect()
  try {
    await first.query('begin')
    await second.query('begin')
    await work(first, second)
  } finally {
    first.release(true)
    second.release(true)
  }
}

const enqueue = (client: PoolClient, input: string) =>
  client.query('select holdfast.enqueue($1, $2)', ['noted', JSON.stringify(input)])
const whenRan = (input: string) => until(`${input} to run`, () => ran.includes(input))

describe('a run that commits after one with a higher number', () => {
  // Its transaction id lies above everything that had ended: no snapshot lists it as running.
  it('is found when its transaction id is the higher one as well', async () => {
    await jobs.work({ jobs: [job], limits: { slowPollMs: 100 } })
    await inSessions(async (first, second) => {
      await first.query('select pg_current_xact_id()')
      await enqueue(second, 'lower number')
      await enqueue(first, 'higher number')
      await first.query('commit')
      await whenRan('higher number')
      expect(ran).not.toContain('lower number')
      await second.query('commit')
    })
    await whenRan('lower number')
  })

  it('is found when it stays open over many claims', async () => {
    await jobs.work({ jobs: [job], limits: { slowPollMs: 100 } })
    await inSessions(async (first, second) => {
      await first.query('select pg_current_xact_id()')
      await enqueue(second, 'lower number')
      await enqueue(first, 'higher number')
      await first.query('commit')
      await whenRan('higher number')
      for (let n = 0; n < 5; n += 1) {
        await jobs.rig.client().enqueue(job, `after ${n}`)
        await whenRan(`after ${n}`)
      }
      await second.query('commit')
    })
    await whenRan('lower number')
  })
})

type Step = readonly [session: number, action: 'draw' | 'enqueue' | 'commit' | 'roll back'] | 'claim'

const sessions = 3
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(
    fc.nat(sessions - 1),
    fc.constantFrom(
      'draw' as const,
      'enqueue' as const,
      'enqueue' as const,
      'commit' as const,
      'roll back' as const,
    ),
  ),
  fc.constant('claim' as const),
)

describe('claims', () => {
  it('take every committed run exactly once, however transactions and claims interleave', async () => {
    const { pool } = jobs.rig.database
    const database = new Database({ pool, preparesStatements: true, deadlineMs: 15_000 })
    const worker = await registerWorker(database, {
      name: 'property',
      version: '0',
      host: 'here',
      pid: 1,
      queues: ['default'],
      tags: [],
      concurrency: 1000,
      leaseMs: 3_600_000,
    })
    const laneId = worker.laneIds[0] as number
    let request = 0
    const claim = async (): Promise<number[]> => {
      request += 1
      const { runs } = await claimRuns(database, {
        worker: worker.incarnation,
        laneId,
        wanted: 100,
        suspectRoom: 0,
        mayTakeDeadly: false,
        request,
      })
      return runs.map(({ id }) => id)
    }
    const clients = await Promise.all(Array.from({ length: sessions }, () => pool.connect()))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
        const open = clients.map(() => null as number[] | null)
        const committed: number[] = []
        const claimed: number[] = []
        const end = async (session: number, isKept: boolean) => {
          const ids = open[session]
          if (ids === null || ids === undefined) return
          await clients[session]?.query(isKept ? 'commit' : 'rollback')
          if (isKept) committed.push(...ids)
          open[session] = null
        }
        for (const each of steps) {
          if (each === 'claim') {
            claimed.push(...(await claim()))
            continue
          }
          const [session, action] = each
          const client = clients[session] as PoolClient
          if (action === 'commit' || action === 'roll back') {
            await end(session, action === 'commit')
            continue
          }
          if (open[session] === null) {
            await client.query('begin')
            open[session] = []
          }
          if (action === 'draw') await client.query('select pg_current_xact_id()')
          else {
            const stored = await client.query<{ ids: string }>(
              'select holdfast.accept_run_lines($1, $2) as ids',
              ['noted', '1'],
            )
            open[session]?.push(Number(stored.rows[0]?.ids))
          }
        }
        for (let session = 0; session < sessions; session += 1) await end(session, true)
        for (let looks = 0; looks < 4; looks += 1) claimed.push(...(await claim()))
        expect(claimed.sort((a, b) => a - b)).toEqual(committed.sort((a, b) => a - b))
      }),
      { numRuns: 150 },
    )
    for (const client of clients) client.release()
  }, 60_000)
})
