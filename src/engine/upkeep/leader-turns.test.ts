import { expect, it, vi } from 'vitest'
import type { Database } from '../../storage/database.ts'
import { DatabaseClock, systemClock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { LeaderTurns } from './leader-turns.ts'
import { singleStepTask } from './steps.ts'
import { Upkeep } from './upkeep.ts'

/** A database with so many connections, where everything is due at the first look. A transaction that finds none of them free fails, as after a pool's timeout. */
class CrowdedDatabase {
  readonly pool: { readonly options: { readonly max: number } }
  readonly failures: string[] = []
  readonly ended: string[] = []
  #due: readonly string[]
  #taken = 0

  constructor(max: number, due: readonly string[]) {
    this.pool = { options: { max } }
    this.#due = due
  }

  async query({ name }: { name: string }, values: readonly (string | number | null)[]): Promise<object[]> {
    if (name === 'claim_leadership') return [{ term: 1 }]
    if (name === 'start_due_tasks') {
      const due = this.#due
      this.#due = []
      return due.map((task) => ({ name: task }))
    }
    if (name === 'finish_task') {
      this.ended.push(String(values[2]))
      if (values[5] !== null) this.failures.push(`${values[2]}: ${values[5]}`)
    }
    return []
  }

  async inTransaction<Result>(work: (client: object) => Promise<Result>): Promise<Result> {
    if (this.#taken >= this.pool.options.max) throw new Error('timeout exceeded when trying to connect')
    this.#taken += 1
    try {
      return await work({ query: async () => ({ rows: [] }) })
    } finally {
      this.#taken -= 1
    }
  }
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

function upkeepOn(database: CrowdedDatabase, tasks: ReturnType<typeof singleStepTask>[]): Upkeep {
  const turns = new LeaderTurns({
    database: database as unknown as Database,
    databaseClock: new DatabaseClock(systemClock),
    logger: silent,
    tasks,
    incarnation: () => 1,
    leadingEpoch: () => 1,
  })
  return new Upkeep({ logger: silent, lookMs: 5, turns: [turns] })
}

const eachTurn = () => new Promise((resolve) => setImmediate(resolve))

it('tasks that are due together wait for the connections of the leader, and none fails because there are fewer of them', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `task-${index}`)
  const database = new CrowdedDatabase(2, names)
  const tasks = names.map((name) =>
    singleStepTask({ name, everyMs: 3_600_000, counts: 'done', step: async () => void (await eachTurn()) }),
  )
  const upkeep = upkeepOn(database, tasks)
  upkeep.start()
  await vi.waitUntil(() => database.ended.length === names.length)
  await upkeep.stop()
  expect(database.failures).toEqual([])
})

it('a task whose time is over while it waits for a connection fails, does nothing later, and holds up nobody', async () => {
  const database = new CrowdedDatabase(1, ['long', 'impatient', 'patient'])
  const steps: string[] = []
  let end = () => {}
  const task = (name: string, timeoutMs: number, step: () => Promise<void>) =>
    singleStepTask({ name, timeoutMs, everyMs: 3_600_000, counts: 'done', step })
  const noting = (name: string) => async () => void steps.push(name)
  const upkeep = upkeepOn(database, [
    task('long', 60_000, () => new Promise<void>((resolve) => (end = resolve))),
    task('impatient', 20, noting('impatient')),
    task('patient', 60_000, noting('patient')),
  ])
  upkeep.start()
  await vi.waitUntil(() => database.failures.length > 0)
  expect(database.failures).toEqual(['impatient: it took longer than 20 ms'])
  end()
  await vi.waitUntil(() => database.ended.length === 3)
  await upkeep.stop()
  expect(steps).toEqual(['patient'])
})
