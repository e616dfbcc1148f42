import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { ScheduleFirer } from '../../../src/jobs/schedule-firer.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { RawJson } from '../../../src/sdk/raw-json.ts'
import type { ScheduleInput } from '../../../src/sdk/schedule-input.ts'
import { Database } from '../../../src/storage/database.ts'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: Rig
let holdfast: Holdfast
let firers: ScheduleFirer[]
const complaints: string[] = []

const tick = defineJob({ name: 'tick', queue: 'tick' })

beforeAll(async () => {
  rig = await Rig.create()
  holdfast = rig.client()
  await holdfast.jobs.declare(tick)
  const note = (details: object, message: string) => complaints.push(`${message} ${JSON.stringify(details)}`)
  const logger = { debug() {}, info() {}, warn: note, error: note }
  // Three processes' worth of firing.
  firers = [1, 2, 3].map(() => {
    const database = new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 15_000 })
    return new ScheduleFirer({ database, logger, pollMs: 20 })
  })
  for (const firer of firers) firer.start()
})

afterAll(async () => {
  await Promise.all(firers.map((firer) => firer.stop()))
  await rig.stop()
  expect(complaints).toEqual([])
})

const runsOf = (schedule: string) =>
  rig.rows<{ at: string }>(
    `select message.metadata ->> 'scheduledFor' as at from holdfast_internal.messages as message
     where message.metadata ->> 'schedule' = $1 order by 1`,
    [schedule],
  )

/** As if its time had come. */
const makeDue = (pattern: string, ago = '1 second') =>
  rig.rows(
    `update holdfast_internal.schedules set next_at = date_trunc('second', now()) - $2::interval where name like $1 returning name`,
    [pattern, ago],
  )

test('a thousand schedules that fall due together fire once each, however many fire them', async () => {
  for (let n = 0; n < 1000; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        holdfast.schedules.set({ name: `many-${n + index}`, job: 'tick', cron: '0 4 1 1 *', payload: { n } }),
      ),
    )
  }
  await makeDue('many-%')
  await until(
    'all to fire',
    () =>
      rig.value<number>(
        `select count(*)::int from holdfast_internal.schedules where name like 'many-%' and fired > 0`,
      ),
    (count) => count === 1000,
    20_000,
  )
  expect(await rig.value(`select count(*)::int from holdfast_internal.runs`)).toBe(1000)
  expect(await rig.value(`select max(fired)::int from holdfast_internal.schedules`)).toBe(1)
})

test('an interval continues by itself, and skips while its last run has not ended', async () => {
  await holdfast.schedules.set({ name: 'interval', job: 'tick', everyMs: 1000 })
  await makeDue('interval')
  await until(
    'the first',
    () => runsOf('interval'),
    (rows) => rows.length === 1,
  )
  await makeDue('interval')
  await until(
    'a skipped tick',
    () => holdfast.schedules.get('interval'),
    ({ skipped }) => skipped > 0,
  )
  expect(await runsOf('interval')).toHaveLength(1)
  await rig.rows('delete from holdfast_internal.runs')
  await makeDue('interval')
  await until(
    'the next one',
    () => runsOf('interval'),
    (rows) => rows.length >= 2,
  )
  await holdfast.schedules.delete('interval')
})

test('overlap queue runs one after the other, allow runs all', async () => {
  await rig.rows('delete from holdfast_internal.runs')
  for (const overlap of ['queue', 'allow'] as const) {
    await holdfast.schedules.set({ name: overlap, job: 'tick', cron: '0 4 1 1 *', overlap })
    for (let times = 1; times <= 2; times++) {
      await makeDue(overlap, `${10 - times} seconds`)
      await until(
        'it to fire',
        () => runsOf(overlap),
        (rows) => rows.length === times,
      )
    }
  }
  expect(await rig.rows(`select ordering_key from holdfast_internal.runs order by id`)).toEqual([
    { ordering_key: 'schedule:queue' },
    { ordering_key: 'schedule:queue' },
    { ordering_key: null },
    { ordering_key: null },
  ])
})

test('after a downtime each policy makes up for what it says', async () => {
  for (const catchUp of ['one', 'all', 'none'] as const) {
    await holdfast.schedules.set({ name: catchUp, job: 'tick', everyMs: 60_000, catchUp, overlap: 'allow' })
    await makeDue(catchUp, '5 minutes 30 seconds')
  }
  await until(
    'all to be moved on',
    () =>
      rig.value<number>(
        `select count(*)::int from holdfast_internal.schedules where name in ('one', 'all', 'none') and next_at > now()`,
      ),
    (count) => count === 3,
  )
  const counts = await Promise.all(['one', 'all', 'none'].map(async (name) => (await runsOf(name)).length))
  // The latest tick of `none` was half a minute late, which is no miss.
  expect(counts).toEqual([1, 6, 1])
})

test('a tick that the database can not store just now is owed until it can', async () => {
  await rig.rows(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`)
  await rig.rows('create trigger refuse before insert on holdfast_internal.runs execute function refuse()')
  await holdfast.schedules.set({ name: 'patient', job: 'tick', everyMs: 3_600_000 })
  await makeDue('patient')
  await new Promise((resolve) => setTimeout(resolve, 300))
  await rig.rows('drop trigger refuse on holdfast_internal.runs')
  await until(
    'the tick',
    () => runsOf('patient'),
    (rows) => rows.length === 1,
  )
})

test('a one-off fires once, a pause keeps a schedule from firing, and a preview shows what is next', async () => {
  await holdfast.schedules.set({
    name: 'once',
    job: 'tick',
    runAt: new Date(Date.now() + 100),
    payload: { a: 1 },
  })
  await until(
    'it to fire',
    () => runsOf('once'),
    (rows) => rows.length === 1,
  )
  expect(await holdfast.schedules.get('once')).toMatchObject({ nextAt: null, fired: 1, payload: { a: 1 } })

  await holdfast.schedules.set({
    name: 'nightly',
    job: 'tick',
    cron: '0 3 * * *',
    timezone: 'Europe/Amsterdam',
  })
  await holdfast.schedules.pause('nightly', 'a holiday')
  await makeDue('nightly')
  const marker = await holdfast.schedules.set({ name: 'marker', job: 'tick', runAt: new Date() })
  await until(
    'a later one to fire',
    () => runsOf(marker.name),
    (rows) => rows.length === 1,
  )
  expect(await holdfast.schedules.get('nightly')).toMatchObject({
    fired: 0,
    isPaused: true,
    pauseReason: 'a holiday',
  })
  await holdfast.schedules.resume('nightly')
  const preview = await holdfast.schedules.preview('nightly', 3)
  expect(preview).toHaveLength(3)
  const hours = preview.map((fire) => fire.toLocaleTimeString('en-GB', { timeZone: 'Europe/Amsterdam' }))
  expect(hours).toEqual(['03:00:00', '03:00:00', '03:00:00'])
  expect(preview[0]!.getTime()).toBeGreaterThan(Date.now())
})

test('saying the same again keeps the next fire; another rule moves it', async () => {
  const first = await holdfast.schedules.set({ name: 'same', job: 'tick', everyMs: 3_600_000 })
  const again = await holdfast.schedules.set({
    name: 'same',
    job: 'tick',
    everyMs: 3_600_000,
    payload: 'new',
  })
  expect(again.nextAt).toEqual(first.nextAt)
  const changed = await holdfast.schedules.set({ name: 'same', job: 'tick', everyMs: 7_200_000 })
  expect(changed.nextAt).not.toEqual(first.nextAt)
})

test('what can not be a schedule is refused with the reason', async () => {
  const bad = { name: 'bad', job: 'tick' }
  await expect(holdfast.schedules.set(bad as ScheduleInput)).rejects.toThrow(
    /exactly one of cron, everyMs and runAt/,
  )
  await expect(holdfast.schedules.set({ ...bad, cron: '* * *' })).rejects.toMatchObject({
    code: 'invalid_schedule',
  })
  await expect(
    holdfast.schedules.set({ ...bad, cron: '* * * * *', timezone: 'Nowhere/Else' }),
  ).rejects.toThrow(/time zone/)
  await expect(holdfast.schedules.set({ ...bad, job: 'nobody', everyMs: 1000 })).rejects.toMatchObject({
    code: 'job_not_found',
  })
  await expect(holdfast.schedules.get('nobody')).rejects.toMatchObject({ code: 'schedule_not_found' })
})

test('a long downtime of many schedules is made up for in bounded steps, those with one tick first', async () => {
  const set = (name: string, catchUp: 'one' | 'all') =>
    holdfast.schedules.set({ name, job: 'tick', everyMs: 1000, catchUp, overlap: 'allow' })
  for (const name of ['long-1', 'long-2', 'long-3']) await set(name, 'all')
  await set('long-short', 'one')
  await rig.rows(`delete from holdfast_internal.runs`)
  await makeDue('long-%', '10 minutes')
  await until(
    'all to be made up for',
    () =>
      rig.value<number>(
        `select count(*)::int from holdfast_internal.schedules where name like 'long-%' and fired > 0`,
      ),
    (count) => count === 4,
    30_000,
  )
  await holdfast.schedules.pause('long-1')
  const stored = await rig.rows<{ runs: number; names: string[] }>(
    `select count(*)::int as runs, array_agg(distinct message.metadata ->> 'schedule' order by message.metadata ->> 'schedule') as names
     from holdfast_internal.runs as run join holdfast_internal.messages as message on message.id = run.id
     group by run.published_by order by run.published_by`,
  )
  expect(stored[0]!.names, 'in the first step').toContain('long-short')
  expect(Math.max(...stored.map(({ runs }) => runs))).toBeLessThanOrEqual(1000)
  for (const name of ['long-1', 'long-2', 'long-3', 'long-short']) await holdfast.schedules.delete(name)
})

test('resuming a schedule that is not paused leaves its next fire alone', async () => {
  await holdfast.schedules.set({ name: 'unpaused', job: 'tick', cron: '0 4 1 1 *' })
  await rig.rows(
    `update holdfast_internal.schedules set next_at = '2031-06-01T00:00:00Z' where name = 'unpaused'`,
  )
  await holdfast.schedules.resume('unpaused')
  expect((await holdfast.schedules.get('unpaused')).nextAt).toEqual(new Date('2031-06-01T00:00:00Z'))
})

test('a time written by hand, finer than a millisecond, fires once and continues', async () => {
  await rig.rows(
    `insert into holdfast_internal.schedules (name, job_id, every_ms, next_at)
     select 'by-hand', id, 3600000, date_trunc('second', now()) - interval '999999 microseconds' from holdfast_internal.jobs where name = 'tick'`,
  )
  await until(
    'it to fire',
    () => runsOf('by-hand'),
    (rows) => rows.length === 1,
  )
  expect((await holdfast.schedules.get('by-hand')).nextAt!.getTime()).toBeGreaterThan(Date.now())
})

test('what its runs could not be enqueued with is refused when the schedule is set', async () => {
  const schedule = { name: 'unfit', job: 'tick', everyMs: 60_000, overlap: 'queue' } as const
  await expect(
    holdfast.schedules.set({ ...schedule, options: { concurrencyKey: 'a' } }),
  ).rejects.toMatchObject({ code: 'invalid_schedule' })
})

test('a payload beyond what a double holds keeps every digit, from the schedule to its run', async () => {
  const payload = '{"id": 12345678901234567890, "rate": 0.10000000000000000001}'
  const schedule = await holdfast.schedules.set({
    name: 'exact',
    job: 'tick',
    cron: '0 4 1 1 *',
    payload: new RawJson(payload),
  })
  expect(schedule).toMatchObject({ payload: JSON.parse(payload), payloadText: payload })
  await makeDue('exact')
  const { lastRunId } = await until(
    'it to fire',
    () => holdfast.schedules.get('exact'),
    ({ fired }) => fired === 1,
  )
  expect(await holdfast.runs.get(lastRunId!)).toMatchObject({
    payload: JSON.parse(payload),
    payloadText: payload,
  })
})

test("a schedule follows the database's clock, not that of who sets it", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2020-01-01T00:00:00Z') })
  try {
    const set = await holdfast.schedules.set({
      name: 'from-the-past',
      job: 'tick',
      cron: '0 3 * * *',
      catchUp: 'all',
    })
    await holdfast.schedules.pause('from-the-past')
    await holdfast.schedules.resume('from-the-past')
    const resumed = await holdfast.schedules.get('from-the-past')
    for (const { nextAt } of [set, resumed]) {
      expect(await rig.value<boolean>('select $1::timestamptz > now()', [nextAt])).toBe(true)
    }
  } finally {
    vi.useRealTimers()
    await holdfast.schedules.delete('from-the-past')
  }
})
