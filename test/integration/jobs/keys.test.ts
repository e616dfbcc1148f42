import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { type HandClaimer, JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let hand: HandClaimer
const job = defineJob({ name: 'keyed', autoDisable: { threshold: null } })

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  await holdfast.enqueueBatch(job, [])
})
afterAll(() => jobs.stop())

const numberOf = (id: string) => jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])

/** Its holder says what became of a run. */
const decide = (action: string) => async (run: number) => {
  const claim = await jobs.rig.value<number>(
    'select claim_id from holdfast_internal.owed_runs where id = $1',
    [run],
  )
  const isTried = action !== 'expire'
  const record = { id: run, message: run, claim, lane: hand.lane, attempt: isTried ? 1 : 0, expected: 0 }
  const ending = { outcome: 2, action, ageMs: 0, durationMs: 0, delayMs: 600_000, reason: action, isTried }
  const refused = await jobs.rig.value('select holdfast_internal.settle_run_failures($1, $2, $3)', [
    hand.me,
    JSON.stringify([{ ...record, ...ending }]),
    [],
  ])
  expect(refused).toBeNull()
}
const succeed = (run: number) =>
  jobs.rig.rows(
    `select holdfast_internal.settle_run_successes($1, array[$2::bigint], '{}', '{}', '{}', array[$3::int], '{1}', '{0}', '{0}', '{}', '{}')`,
    [hand.me, run, hand.lane],
  )
const bury = () => jobs.rig.rows('select holdfast_internal.bury_worker($1, 0, 0)', [hand.me])

/** How a run ends that somebody has. */
const endings: Record<string, (run: number) => Promise<unknown>> = {
  succeeds: succeed,
  'fails for good': decide('dead'),
  'has expired when it comes to its turn': decide('expire'),
  'is cancelled at work': decide('cancel'),
  'crashes its worker too often': async (run) => {
    await jobs.rig.rows('update holdfast_internal.runs set crashes = 2 where id = $1', [run])
    await bury()
  },
  'is a zombie': async () => {
    await hand.begin()
    await jobs.rig.rows(`update holdfast_internal.run_claims set claimed_at = now() - interval '3 hours'`)
    expect(await jobs.rig.value('select holdfast_internal.sweep_zombies(1000, 100, 0)')).toBe(1)
  },
}

/** How a run ends that nobody has. */
const waits: Record<string, (run: number) => Promise<unknown>> = {
  'is cancelled before': (run) => jobs.rig.rows('select holdfast_internal.cancel_run($1)', [run]),
  'expires before': async (run) => {
    await jobs.rig.rows('update holdfast_internal.runs set expires_at = now() where id = $1', [run])
    expect(await jobs.rig.value('select holdfast_internal.expire_runs(10, 0)')).toBe(1)
  },
  'waits for its worker too long': async (run) => {
    await jobs.rig.rows(
      `update holdfast_internal.runs set target = 'worker:absent', due_at = now() - interval '1 hour', ttl_at = now() where id = $1`,
      [run],
    )
    expect(await jobs.rig.value('select holdfast_internal.expire_targets(10, 0)')).toBe(1)
  },
}

/** Two runs of one key, of which the second is set aside while the first has its turn. */
async function pair(options: object, delayMs: number): Promise<number> {
  await jobs.rig.rows(
    'delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles; delete from holdfast_internal.run_claims; delete from holdfast_internal.workers',
  )
  hand = await jobs.claimByHand()
  const { id } = await holdfast.enqueue(job, 'first', { ...options, delayMs })
  expect(await hand.claim()).toBe(delayMs === 0 ? 1 : 0)
  await holdfast.enqueue(job, 'second', options)
  expect(await hand.claim()).toBe(0)
  return numberOf(id)
}

async function expectSecondToGo(): Promise<void> {
  hand = await jobs.claimByHand()
  expect(await hand.claim()).toBe(1)
}

describe('the next run of an ordering key goes when the one before it', () => {
  it.each(Object.entries(endings))('%s', async (_, end) => {
    const run = await pair({ orderingKey: 'k' }, 0)
    await end(run)
    await expectSecondToGo()
  })

  it.each(Object.entries(waits))('%s', async (_, end) => {
    const run = await pair({ orderingKey: 'k' }, 3_600_000)
    await end(run)
    await expectSecondToGo()
  })
})

describe('the next run of a concurrency key goes when the one before it', () => {
  it.each([...Object.entries(endings), ['waits for its second try', decide('retry')] as const])(
    '%s',
    async (_, end) => {
      const run = await pair({ concurrencyKey: 'k' }, 0)
      await end(run)
      await expectSecondToGo()
    },
  )

  it.each([
    ['goes back to a worker that is gone', bury],
    [
      'is a zombie that goes back to a worker that is gone',
      async () => {
        await holdfast.jobs.override('keyed', { onZombie: 'requeue' })
        await hand.begin()
        await jobs.rig.rows(`update holdfast_internal.run_claims set claimed_at = now() - interval '3 hours'`)
        expect(await jobs.rig.value('select holdfast_internal.sweep_zombies(1000, 100, 0)')).toBe(1)
        await holdfast.jobs.override('keyed', { onZombie: null })
      },
    ],
    [
      'is handed back when its worker stops',
      () => jobs.rig.rows('select holdfast_internal.retire_worker($1)', [hand.me]),
    ],
    [
      'goes back because the answer to its claim was lost',
      () => jobs.rig.rows('select holdfast_internal.return_claim($1, 1)', [hand.me]),
    ],
  ] as const)('%s', async (_, goBack) => {
    const run = await pair({ concurrencyKey: 'k' }, 0)
    await jobs.rig.rows(`update holdfast_internal.runs set target = 'worker:gone' where id = $1`, [run])
    await goBack()
    await expectSecondToGo()
  })
})
