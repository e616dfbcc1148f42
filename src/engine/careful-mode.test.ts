import { describe, expect, it } from 'vitest'
import type { Database, Statement } from '../storage/database.ts'
import { CarefulMode } from './careful-mode.ts'
import type { Lane } from './lane.ts'
import { silentLogger } from './logger.ts'

/** Answers each statement when the test says so. */
class SlowDatabase {
  readonly asked: string[] = []
  readonly #answers: (() => void)[] = []
  isAnswering = true

  async query(statement: Statement): Promise<object[]> {
    this.asked.push(statement.name)
    if (!this.isAnswering) await new Promise<void>((resolve) => this.#answers.push(resolve))
    return []
  }

  answer(): void {
    this.isAnswering = true
    for (const resolve of this.#answers.splice(0)) resolve()
  }
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('CarefulMode', () => {
  it('clears the suspicion of a shard that became free of it while another was being cleared', async () => {
    const database = new SlowDatabase()
    const careful = new CarefulMode({
      database: database as unknown as Database,
      logger: silentLogger,
      incarnation: () => 1,
      start: () => undefined,
      release: () => undefined,
      requestRead: () => undefined,
    })
    const [first, second] = [7, 8].map((shard) => ({ shard, pending: 1 }) as unknown as Lane)
    await careful.enter(
      [7, 8],
      [first!, second!].map((lane) => ({ lane, maxOut: 1 })),
    )
    database.isAnswering = false
    careful.laneSettled(first!)
    await turns(2)
    expect(database.asked.filter((name) => name === 'clear_suspicion')).toHaveLength(1)
    careful.laneSettled(second!)
    database.answer()
    await turns(5)
    expect(database.asked.filter((name) => name === 'clear_suspicion')).toHaveLength(2)
    expect(careful.isActive).toBe(false)
  })
})
