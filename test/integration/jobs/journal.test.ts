import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let journalFolder: string

beforeEach(async () => {
  jobs = await JobsRig.create()
  journalFolder = await mkdtemp(join(tmpdir(), 'holdfast-journal-'))
})

afterEach(async () => {
  await jobs.stop()
  await rm(journalFolder, { recursive: true, force: true })
})

test('a worker with a full journal claims no runs and loses no results, and continues when they are stored', async () => {
  const ran: unknown[] = []
  let finish: () => void = () => {}
  const job = defineJob({
    name: 'noted',
    run: async (input) => {
      ran.push(input)
      if (input === 'first') await new Promise<void>((resolve) => (finish = resolve))
    },
  })
  const holdfast = jobs.rig.client()
  const worker = await jobs.work({
    jobs: [job],
    journalFolder,
    limits: { maxJournalBytes: 1, slowPollMs: 100 },
  })
  // Through another client: a run that is assigned to an idle worker of its process when it is enqueued has no row that could be locked.
  await holdfast.enqueue(job, 'first', { client: jobs.rig.database.pool })
  await until('the first to begin', () => ran.length)
  const client = await jobs.rig.database.pool.connect()
  try {
    // Settling waits for the transaction that has locked the run.
    await client.query('begin')
    const locked = await client.query('select from holdfast_internal.runs for update')
    expect(locked.rowCount).toBe(1)
    finish()
    await until('the first to end', () => worker.completed)
    // Its result is written in the same turn of the loop as others that end in it. A claim that was sent before that may still take a run.
    await setImmediate()
    await new Promise((resolve) => setTimeout(resolve, 200))
    await until(
      'claims that were sent before to end',
      () =>
        jobs.rig.value<number>(
          `select count(*)::int from pg_stat_activity
           where datname = current_database() and state = 'active' and query like '%claim_runs%' and pid <> pg_backend_pid()`,
        ),
      (claims) => claims === 0,
    )
    await holdfast.enqueue(job, 'second')
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(ran, 'its slots are free, its journal is not').toEqual(['first'])
    await client.query('commit')
  } finally {
    client.release(true)
  }
  await jobs.whenDone()
  expect(ran).toEqual(['first', 'second'])
})
