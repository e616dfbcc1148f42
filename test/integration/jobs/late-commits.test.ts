import type { PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
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
