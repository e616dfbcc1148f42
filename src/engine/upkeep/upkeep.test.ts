import { afterEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../logger.ts'
import { OwnTurns } from './own-turns.ts'
import type { TaskEnd, Turn, Turns } from './turns.ts'
import { Upkeep } from './upkeep.ts'

/** Turns that a test gives out. */
class GivenTurns implements Turns {
  readonly areOneByOne: boolean
  readonly waiting: Turn[] = []
  readonly ended = new AbortController()
  readonly ends: { readonly name: string; readonly end: TaskEnd }[] = []
  error: Error | null = null

  constructor(areOneByOne = false) {
    this.areOneByOne = areOneByOne
  }

  give(name: string, run: Turn['run'], timeoutMs?: number): void {
    const finish = async (end: TaskEnd) => void this.ends.push({ name, end })
    this.waiting.push({ name, run, finish, ended: this.ended.signal, timeoutMs })
  }

  async take(running: ReadonlySet<string>): Promise<readonly Turn[]> {
    if (this.error !== null) throw this.error
    if (this.areOneByOne) return running.size > 0 ? [] : this.waiting.splice(0, 1)
    const due = this.waiting.filter(({ name }) => !running.has(name))
    for (const turn of due) this.waiting.splice(this.waiting.indexOf(turn), 1)
    return due
  }

  end(): void {
    this.ended.abort(new Error('no longer its turn'))
  }
}

const upkeeps: Upkeep[] = []
const upkeepOf = (...turns: Turns[]): Upkeep => {
  const upkeep = new Upkeep({ logger: silentLogger, lookMs: 5, turns })
  upkeeps.push(upkeep)
  return upkeep
}
afterEach(async () => {
  for (const upkeep of upkeeps.splice(0)) await upkeep.stop()
})

describe('Upkeep', () => {
  it('runs a task beside one that hangs, and reports that one as failed when its time is over', async () => {
    const turns = new GivenTurns()
    turns.give('hangs', () => new Promise(() => {}), 20)
    turns.give('works', async () => ({ purged: 3 }))
    upkeepOf(turns).start()
    await vi.waitUntil(() => turns.ends.length === 2)
    expect(turns.ends).toMatchObject([
      { name: 'works', end: { summary: { purged: 3 }, error: null } },
      { name: 'hangs', end: { summary: null, error: 'it took longer than 20 ms' } },
    ])
  })

  it('does not start a task a second time beside itself, though its time is over', async () => {
    const turns = new GivenTurns()
    let starts = 0
    let end = () => {}
    const run = () => {
      starts += 1
      return new Promise<void>((resolve) => (end = resolve))
    }
    turns.give('deaf', run, 10)
    const upkeep = upkeepOf(turns)
    upkeep.start()
    await vi.waitUntil(() => turns.ends.length === 1)
    turns.give('deaf', run)
    await upkeep.look()
    expect(starts).toBe(1)
    end()
    await vi.waitUntil(() => starts === 2)
    end()
  })

  it('runs tasks of a kind one after the other where that is asked for, without waiting for the next look', async () => {
    const turns = new GivenTurns(true)
    let running = 0
    let maxRunning = 0
    for (const name of ['a', 'b', 'c']) {
      turns.give(name, async () => {
        running += 1
        maxRunning = Math.max(maxRunning, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
      })
    }
    await upkeepOf(turns).look()
    await vi.waitUntil(() => turns.ends.length === 3)
    expect(maxRunning).toBe(1)
    expect(turns.ends.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('runs tasks of other kinds while one kind can not be read, and that kind as soon as it can', async () => {
    const broken = new GivenTurns()
    broken.error = new Error('relation does not exist')
    const whole = new GivenTurns()
    whole.give('works', async () => {})
    broken.give('later', async () => {})
    upkeepOf(broken, whole).start()
    await vi.waitUntil(() => whole.ends.length === 1)
    broken.error = null
    await vi.waitUntil(() => broken.ends.length === 1)
  })

  it('records a task that fails, also before it awaits anything', async () => {
    const turns = new GivenTurns()
    turns.give('throws', () => {
      throw new Error('no such table')
    })
    await upkeepOf(turns).look()
    await vi.waitUntil(() => turns.ends.length === 1)
    expect(turns.ends[0]?.end.error).toBe('no such table')
  })

  it('tells running tasks to end when it stops, and records nothing of them', async () => {
    const turns = new GivenTurns()
    let reason: unknown = null
    turns.give('long', async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      reason = signal.reason
    })
    const upkeep = upkeepOf(turns)
    await upkeep.look()
    await new Promise((resolve) => setImmediate(resolve))
    await upkeep.stop()
    expect(String(reason)).toContain('no longer its turn')
    expect(turns.ends).toEqual([])
  })

  it("runs a process's own tasks again and again, each after its interval", async () => {
    const runs: string[] = []
    const turns = new OwnTurns([
      { name: 'often', runBy: 'each', every: 1, run: async () => void runs.push('often') },
      { name: 'never', runBy: 'each', every: 60_000, run: async () => void runs.push('never') },
    ])
    upkeepOf(turns).start()
    await vi.waitUntil(() => runs.length >= 3)
    expect(new Set(runs)).toEqual(new Set(['often']))
  })
})
