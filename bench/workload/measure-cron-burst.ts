import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { createWorker, defineJob, Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'

const SCHEDULES = 10_000
/** Minimum time between storing the schedules and the beginning of the minute. */
const LEAD_MS = 5000
const POLL_MS = 20

/** Seconds from the beginning of a minute until all cron schedules due in it have created their run. Each creates one run, which is executed once. */
export async function measureCronBurst({ databaseUrl }: SampleContext): Promise<Sample> {
  const ran = new Map<string, number>()
  const job = defineJob({
    name: 'tick',
    run: (_input, { metadata }) => {
      const name = String(metadata['schedule'])
      ran.set(name, (ran.get(name) ?? 0) + 1)
    },
  })
  const holdfast = new Holdfast({ databaseUrl })
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await holdfast.migrate()
  await holdfast.jobs.declare(job)
  const worker = await createWorker({ databaseUrl, jobs: [job], journalFolder: null })
  try {
    const dueAtMs = Math.ceil((Date.now() + LEAD_MS) / 60_000) * 60_000
    const due = new Date(dueAtMs)
    await client.query(
      `insert into holdfast_internal.schedules (name, job_id, cron, next_at)
       select 'schedule-' || n, (select id from holdfast_internal.jobs where name = 'tick'), $1, $2 from generate_series(1, $3::int) as n`,
      [`${due.getUTCMinutes()} ${due.getUTCHours()} * * *`, due, SCHEDULES],
    )
    await sleep(dueAtMs - Date.now())
    const seen = await untilFired(client)
    const firedSeconds = (Date.now() - dueAtMs) / 1000
    while (ran.size < SCHEDULES) await sleep(POLL_MS)
    const ranSeconds = (Date.now() - dueAtMs) / 1000
    // A second run would come with the next checks, if at all.
    await sleep(2000)
    const most = Math.max(...ran.values())
    if (seen.most !== 1 || most !== 1) {
      throw new Error(`A schedule fired ${seen.most} times, and ran ${most} times.`)
    }
    return {
      value: firedSeconds,
      details: { schedules: SCHEDULES, allRanAfterSeconds: ranSeconds },
      settings: {},
    }
  } finally {
    await worker.stop()
    await holdfast.stop()
    await client.end()
  }
}

async function untilFired(client: Client): Promise<{ most: number }> {
  for (;;) {
    const { rows } = await client.query<{ fired: number; most: number }>(
      'select sum(fired)::int as fired, max(fired)::int as most from holdfast_internal.schedules',
    )
    const [row] = rows
    if (row !== undefined && row.fired >= SCHEDULES) return row
    await sleep(POLL_MS)
  }
}
