import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../storage/read-arrivals.ts'
import { type IdRange, LateCommits } from './late-commits.ts'

interface Transaction {
  readonly xid: bigint
  readonly ids: number[]
}

/**
 * The part of PostgreSQL that matters here. A snapshot's xmax is one past the highest transaction that has ENDED, not the next to
 * begin: a running transaction above it isn't listed, though it may have drawn ids long ago.
 */
class MvccModel {
  nextXid = 100n
  highestEnded = 99n
  nextId = 1
  readonly running: Transaction[] = []
  readonly committed = new Set<number>()

  begin(): void {
    this.running.push({ xid: this.nextXid, ids: [] })
    this.nextXid += 1n
  }

  draw(choice: number, count: number): void {
    const transaction = this.running[choice % Math.max(1, this.running.length)]
    for (let drawn = 0; drawn < count; drawn++) transaction?.ids.push(this.nextId++)
  }

  end(choice: number, isCommit: boolean): void {
    const [transaction] = this.running.splice(choice % Math.max(1, this.running.length), 1)
    if (transaction === undefined) return
    if (transaction.xid > this.highestEnded) this.highestEnded = transaction.xid
    if (isCommit) for (const id of transaction.ids) this.committed.add(id)
  }

  snapshot(): Snapshot {
    const xmax = this.highestEnded + 1n
    const running = this.running.map(({ xid }) => xid).filter((xid) => xid < xmax)
    const xmin = running.length === 0 ? xmax : running.reduce((low, xid) => (xid < low ? xid : low))
    return { xmin, xmax, running, next: this.nextXid }
  }
}

type Step =
  | { readonly do: 'begin' }
  | { readonly do: 'draw'; readonly which: number; readonly count: number }
  | { readonly do: 'end'; readonly which: number; readonly isCommit: boolean }
  | { readonly do: 'read'; readonly maxRows: number }

const which = fc.nat({ max: 7 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ do: 'begin' }),
  fc.record({ do: fc.constant('draw' as const), which, count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('end' as const), which, isCommit: fc.boolean() }),
  fc.record({ do: fc.constant('read' as const), maxRows: fc.constantFrom(1, 2, 1000) }),
)

/** Reads like the engine does: forwards from the cursor, then once more in the range that it was told of. */
class ModelReader {
  readonly found = new Set<number>()
  readonly #model: MvccModel
  readonly #late: LateCommits
  #cursor: number

  constructor(model: MvccModel) {
    this.#model = model
    this.#cursor = Math.max(0, ...model.committed)
    // What is visible at the start is summed up when shards are taken.
    for (const id of model.committed) this.found.add(id)
    this.#late = new LateCommits(this.#cursor, model.snapshot())
  }

  read(maxRows: number): void {
    const fresh = [...this.#model.committed].filter((id) => id > this.#cursor).sort((a, b) => a - b)
    const taken = fresh.slice(0, maxRows)
    for (const id of taken) this.found.add(id)
    this.#cursor = taken.at(-1) ?? this.#cursor
    const range = this.#late.observe(this.#model.snapshot(), this.#cursor)
    if (range !== null) this.#readAgain(range)
  }

  #readAgain({ after, upTo }: IdRange): void {
    for (const id of this.#model.committed) if (id > after && id <= upTo) this.found.add(id)
  }
}

function run(model: MvccModel, reader: ModelReader | null, steps: readonly Step[]): void {
  for (const each of steps) {
    if (each.do === 'begin') model.begin()
    else if (each.do === 'draw') model.draw(each.which, each.count)
    else if (each.do === 'end') model.end(each.which, each.isCommit)
    else reader?.read(each.maxRows)
  }
}

function expectAllFound(before: readonly Step[], after: readonly Step[]): void {
  const model = new MvccModel()
  run(model, null, before)
  const reader = new ModelReader(model)
  run(model, reader, after)
  while (model.running.length > 0) model.end(0, true)
  for (let more = 0; more <= model.committed.size; more++) reader.read(1000)
  expect([...model.committed].filter((id) => !reader.found.has(id))).toEqual([])
}

describe('LateCommits', () => {
  it('leaves no committed id unread, however transactions and reads interleave', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.array(step, { minLength: 5, maxLength: 60 }),
        expectAllFound,
      ),
      { numRuns: 3000 },
    )
  })

  it('finds what the youngest running transaction drew before an older one committed past it', () => {
    expectAllFound(
      [],
      [
        { do: 'begin' },
        { do: 'begin' },
        { do: 'draw', which: 1, count: 1 },
        { do: 'draw', which: 0, count: 1 },
        { do: 'end', which: 0, isCommit: true },
        { do: 'read', maxRows: 1000 },
      ],
    )
  })

  it('finds what was drawn before the first look', () => {
    expectAllFound(
      [
        { do: 'begin' },
        { do: 'begin' },
        { do: 'draw', which: 1, count: 1 },
        { do: 'draw', which: 0, count: 1 },
        { do: 'end', which: 0, isCommit: true },
      ],
      [],
    )
  })

  it('asks for nothing to be read twice while no transaction is late', () => {
    const model = new MvccModel()
    const late = new LateCommits(0, model.snapshot())
    for (let message = 1; message <= 5; message++) {
      model.begin()
      model.draw(0, 1)
      model.end(0, true)
      expect(late.observe(model.snapshot(), message)).toBeNull()
    }
    expect(late.trackedTransactions).toBe(0)
  })

  it('forgets a transaction once it has ended', () => {
    const model = new MvccModel()
    model.begin()
    const late = new LateCommits(10, model.snapshot())
    expect(late.trackedTransactions).toBe(1)
    model.end(0, false)
    expect(late.observe(model.snapshot(), 10)).toEqual({ after: 0, upTo: 10 })
    expect(late.trackedTransactions).toBe(0)
  })
})
