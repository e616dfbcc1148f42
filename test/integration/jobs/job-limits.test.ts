import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})
afterAll(() => jobs.stop())

/** Handlers that wait until they are let go, and how many of them have been at work at once. */
class Turnstile {
  readonly begun: string[] = []
  #open: (() => void)[] = []
  running = 0
  most = 0

  readonly pass = async (label: string): Promise<void> => {
    this.begun.push(label)
    this.running += 1
    this.most = Math.max(this.most, this.running)
    await new Promise<void>((resolve) => this.#open.push(resolve))
    this.running -= 1
  }

  /** Lets all go that are at work. */
  open(): void {
    for (const each of this.#open.splice(0)) each()
  }
}

describe('concurrency of a job', () => {
  it('holds over two workers together, and other jobs of the queue pass by', async () => {
    const door = new Turnstile()
    const limited = defineJob({
      name: 'limited',
      queue: 'shared',
      concurrency: 3,
      run: () => door.pass('limited'),
    })
    const free: number[] = []
    const plain = defineJob({
      name: 'plain',
      queue: 'shared',
      run: (input) => void free.push(input as number),
    })
    await jobs.work({ jobs: [limited, plain], concurrency: 20 })
    await jobs.work({ jobs: [limited, plain], concurrency: 20 })
    await holdfast.enqueueBatch(
      limited,
      Array.from({ length: 30 }, () => ({ input: 1 })),
    )
    await holdfast.enqueueBatch(
      plain,
      Array.from({ length: 50 }, (_, input) => ({ input })),
    )
    await until(
      'the other job to have ended',
      () => free.length,
      (count) => count === 50,
    )
    expect(door.running).toBe(3)
    await until(
      'all of the limited job to have begun',
      () => {
        door.open()
        return door.begun.length
      },
      (count) => count === 30,
    )
    door.open()
    await jobs.whenDone()
    expect(door.most).toBe(3)
  })

  it('holds for retried, delayed, keyed and fair runs, for runs that are assigned on enqueue, and for runs that waited before there was a limit', async () => {
    const door = new Turnstile()
    const job = defineJob({
      name: 'mixed',
      queue: 'mixed',
      retry: { strategy: 'fixed', baseDelayMs: 1, jitter: 'none', maxRetries: 1 },
      run: async (input, { attempt }) => {
        await door.pass(`${String(input)} ${attempt}`)
        if (attempt === 1) throw new Error('once more')
      },
    })
    const old = await holdfast.enqueueBatch(
      job,
      Array.from({ length: 5 }, () => ({ input: 'bundled' })),
    )
    expect(old).toHaveLength(5)
    await holdfast.jobs.override('mixed', { concurrency: 2 })
    await jobs.work({ jobs: [job], concurrency: 20 })
    await holdfast.enqueue(job, 'single')
    await holdfast.enqueueBatch(job, [
      { input: 'ordered', orderingKey: 'k' },
      { input: 'ordered', orderingKey: 'k' },
      { input: 'concurrent', concurrencyKey: 'k' },
      { input: 'concurrent', concurrencyKey: 'k' },
      { input: 'fair', fairKey: 'a' },
      { input: 'fair', fairKey: 'b' },
      { input: 'delayed', delayMs: 5 },
      { input: 'urgent', priority: 3 },
    ])
    await until(
      'all to have begun twice',
      () => {
        door.open()
        return door.begun.length
      },
      (count) => count === 28,
    )
    door.open()
    await jobs.whenDone()
    expect(door.most).toBe(2)
  })

  it('is an override that can be taken back, and everything that waited starts', async () => {
    const door = new Turnstile()
    const job = defineJob({ name: 'eased', queue: 'eased', concurrency: 1, run: () => door.pass('eased') })
    await jobs.work({ jobs: [job], concurrency: 20 })
    await holdfast.enqueueBatch(
      job,
      Array.from({ length: 10 }, () => ({ input: 1 })),
    )
    await until(
      'the first',
      () => door.running,
      (count) => count === 1,
    )
    expect((await holdfast.jobs.get('eased')).concurrency).toBe(1)
    await holdfast.jobs.override('eased', { concurrency: 10 })
    await until(
      'all',
      () => door.running,
      (count) => count === 10,
    )
    door.open()
    await jobs.whenDone()
  })
})

/** How long it took, from before to after: what a rate allows in it is more than what it allowed. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now()
  await work()
  return performance.now() - beganMs
}

describe('rate of a job', () => {
  it('holds over two workers together: a second of it at once, the rest in its time', async () => {
    const job = defineJob({ name: 'rated', queue: 'rated', ratePerSecond: 20, run: () => null })
    await jobs.work({ jobs: [job], concurrency: 20 })
    await jobs.work({ jobs: [job], concurrency: 20 })
    const tookMs = await timed(async () => {
      await holdfast.enqueueBatch(
        job,
        Array.from({ length: 50 }, () => ({ input: 1 })),
      )
      await jobs.whenDone()
    })
    expect(tookMs).toBeGreaterThanOrEqual(1500)
  })

  it('is never exceeded by claims, however often they come', async () => {
    await holdfast.jobs.declare(defineJob({ name: 'often', queue: 'often', ratePerSecond: 50 }))
    await holdfast.enqueueBatch(
      'often',
      Array.from({ length: 300 }, () => ({ input: 1 })),
    )
    const first = await jobs.claimByHand('often')
    const second = await jobs.claimByHand('often')
    let claimed = 0
    const tookMs = await timed(async () => {
      for (let claims = 0; claims < 40; claims += 1) claimed += (await first.claim()) + (await second.claim())
    })
    expect(claimed).toBeGreaterThanOrEqual(50)
    expect(claimed).toBeLessThanOrEqual(50 + (50 * tookMs) / 1000)
    await jobs.rig.rows(`delete from holdfast_internal.runs where claim_id is not null or is_aside`)
  })
})

describe('rate per key', () => {
  it('holds for each concurrency key, over two workers, and keys don’t wait for each other', async () => {
    const started = new Map<string, number>()
    const job = defineJob({
      name: 'paced',
      queue: 'paced',
      concurrencyPerKey: 100,
      ratePerSecondPerKey: 4,
      run: (input) => void started.set(input as string, (started.get(input as string) ?? 0) + 1),
    })
    await jobs.work({ jobs: [job], concurrency: 20 })
    await jobs.work({ jobs: [job], concurrency: 20 })
    const keys = Array.from({ length: 40 }, (_, place) => `key-${place}`)
    const tookMs = await timed(async () => {
      await holdfast.enqueueBatch(
        job,
        Array.from({ length: 8 }).flatMap(() => keys.map((key) => ({ input: key, concurrencyKey: key }))),
      )
      // A second for each key; one after the other they would take 40.
      await jobs.whenDone(20_000)
    })
    expect([...started.values()]).toEqual(keys.map(() => 8))
    expect(tookMs).toBeGreaterThanOrEqual(1000)
  })

  it('starts the next run of a key in time while the runs before it are still at work', async () => {
    const door = new Turnstile()
    const job = defineJob({
      name: 'slow-paced',
      queue: 'slow-paced',
      concurrencyPerKey: 3,
      ratePerSecondPerKey: 5,
      run: () => door.pass('paced'),
    })
    await holdfast.jobs.declare(job)
    await holdfast.jobs.override('slow-paced', { ratePerSecondPerKey: 1 })
    await jobs.work({ jobs: [job], concurrency: 20 })
    await holdfast.enqueueBatch(
      job,
      Array.from({ length: 5 }, () => ({ input: 1, concurrencyKey: 'one' })),
    )
    await until(
      'three at work, one a second',
      () => door.running,
      (count) => count === 3,
    )
    await until(
      'all to have begun',
      () => {
        door.open()
        return door.begun.length
      },
      (count) => count === 5,
    )
    door.open()
    await jobs.whenDone()
    expect(door.most).toBeLessThanOrEqual(3)
  })
})
