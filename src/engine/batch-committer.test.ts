import { array, assert, asyncProperty, integer, uniqueArray } from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { BatchCommitter, type ResultStore } from './batch-committer.ts'
import { silentLogger } from './logger.ts'

interface Result {
  readonly id: number
  readonly text: string | null
}

const result = (id: number, text: string | null = null): Result => ({ id, text })
const lostConnection = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A table that stores a batch completely or not at all. */
class Table implements ResultStore<Result, number> {
  readonly stored: number[] = []
  readonly storedTexts: (string | null)[] = []
  readonly inQuarantine: number[] = []
  /** The batches that were tried, and whether each was marked as the last part. */
  readonly tried: { readonly ids: number[]; readonly isLast: boolean }[] = []
  readonly answers: number[] = []
  isBad: (each: Result) => boolean = () => false
  /** Called before each statement; may throw or wait. */
  before: () => Promise<void> | void = () => {}
  takesQuarantine = true

  async store(results: readonly Result[], isLast: boolean): Promise<number> {
    this.tried.push({ ids: results.map(({ id }) => id), isLast })
    await this.before()
    if (results.some((each) => this.isBad(each))) throw new Error('invalid byte sequence')
    this.stored.push(...results.map(({ id }) => id))
    this.storedTexts.push(...results.map(({ text }) => text))
    return results.length
  }

  onStored(_: readonly Result[], answer: number): void {
    this.answers.push(answer)
  }

  withoutTexts(each: Result): Result | null {
    return each.text === null ? null : result(each.id)
  }

  async quarantine({ id }: Result): Promise<Record<string, unknown>> {
    await this.before()
    if (!this.takesQuarantine) throw new Error('permission denied for table quarantine')
    return { id }
  }

  onQuarantined({ id }: Result): void {
    this.inQuarantine.push(id)
  }
}

describe('BatchCommitter', () => {
  let table: Table
  let queue: Result[]
  let isEachStored: boolean[]
  let awayCount: number
  let committer: BatchCommitter

  beforeEach(() => {
    table = new Table()
    queue = []
    isEachStored = []
    awayCount = 0
    committer = makeCommitter()
  })

  const makeCommitter = () => {
    const made: BatchCommitter = new BatchCommitter({
      logger: silentLogger,
      hasMore: () => queue.length > 0,
      commitNext: async () => {
        isEachStored.push(await made.commit(table, queue.splice(0)))
      },
      onAway: () => {
        awayCount += 1
      },
    })
    return made
  }

  const add = (...results: Result[]) => {
    queue.push(...results)
    committer.flushSoon()
  }

  it('commits what comes in during one turn together, and what comes in during a commit with the next', async () => {
    let go = () => {}
    table.before = () => new Promise<void>((resolve) => (go = resolve))
    add(result(1))
    add(result(2))
    await turn()
    add(result(3))
    add(result(4))
    await turn()
    expect(table.tried.map(({ ids }) => ids)).toEqual([[1, 2]])
    table.before = () => {}
    go()
    await committer.drained()
    expect(table.tried.map(({ ids }) => ids)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(committer.isIdle).toBe(true)
  })

  it('stores every good result once and in order, and quarantines every bad one, wherever they stand', async () => {
    await assert(
      asyncProperty(
        integer({ min: 1, max: 40 }),
        uniqueArray(integer({ min: 0, max: 39 }), { maxLength: 6 }),
        async (count, badIds) => {
          table = new Table()
          committer = makeCommitter()
          table.isBad = ({ id }) => badIds.includes(id)
          const ids = Array.from({ length: count }, (_, id) => id)
          add(...ids.map((id) => result(id)))
          await committer.drained()
          expect(table.stored).toEqual(ids.filter((id) => !badIds.includes(id)))
          expect(table.inQuarantine).toEqual(ids.filter((id) => badIds.includes(id)))
          expect(table.answers.reduce((sum, each) => sum + each, 0)).toBe(table.stored.length)
          for (const { ids: tried, isLast } of table.tried) expect(isLast).toBe(tried.at(-1) === count - 1)
        },
      ),
    )
  })

  it('stores a result without its texts when the database refuses them', async () => {
    table.isBad = ({ text }) => text?.includes('\u0000') ?? false
    add(result(1, 'fine'), result(2, 'a\u0000b'), result(3, 'fine too'))
    await committer.drained()
    expect(table.stored).toEqual([1, 2, 3])
    expect(table.storedTexts).toEqual(['fine', null, 'fine too'])
    expect(table.inQuarantine).toEqual([])
  })

  it('runs a batch again as it was when its connection is lost, and says once that the database is away', async () => {
    await assert(
      asyncProperty(array(integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 }), async (ids) => {
        table = new Table()
        committer = makeCommitter()
        awayCount = 0
        let losses = 2
        table.before = () => {
          if (losses-- > 0) throw lostConnection()
        }
        vi.useFakeTimers({ toFake: ['setTimeout'] })
        add(...ids.map((id) => result(id)))
        await turn()
        expect(committer.isAway).toBe(true)
        await vi.runAllTimersAsync()
        vi.useRealTimers()
        await committer.drained()
        expect(table.tried.map(({ ids: tried }) => tried)).toEqual([ids, ids, ids])
        expect(table.stored).toEqual(ids)
        expect(table.inQuarantine).toEqual([])
        expect([awayCount, committer.isAway]).toEqual([1, false])
      }),
      { numRuns: 20 },
    )
  })

  it('tries again while the database takes nothing, not even into quarantine', async () => {
    table.isBad = () => true
    table.takesQuarantine = false
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    add(result(1))
    while (table.tried.length < 1 || !committer.isAway) await turn()
    table.isBad = () => false
    await vi.runAllTimersAsync()
    vi.useRealTimers()
    await committer.drained()
    expect(table.stored).toEqual([1])
    expect(table.inQuarantine).toEqual([])
    expect(committer.isAway).toBe(false)
  })

  it('reports nothing as stored that it was made to give up', async () => {
    table.before = () => {
      throw lostConnection()
    }
    add(result(1), result(2))
    while (!committer.isAway) await turn()
    const drained = committer.drained()
    committer.abandon()
    await drained
    expect(isEachStored).toEqual([false])
    expect([table.stored, table.inQuarantine]).toEqual([[], []])
  })

  it('splits no batch after it was abandoned, and quarantines nothing', async () => {
    table.isBad = ({ id }) => id === 2
    table.before = () => committer.abandon()
    add(result(1), result(2))
    await committer.drained()
    expect(isEachStored).toEqual([false])
    expect(table.tried).toHaveLength(1)
    expect([table.stored, table.inQuarantine]).toEqual([[], []])
  })

  it('ends waits for results that will not be committed any more', async () => {
    queue.push(result(1))
    committer.abandon()
    await committer.drained()
    expect(table.tried).toEqual([])
  })
})
