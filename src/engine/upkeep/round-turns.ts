import type { Database } from '../../storage/database.ts'
import { takeRound } from '../../storage/keep-runs.ts'
import type { Turn, Turns } from './turns.ts'
import type { RoundTask } from './upkeep-task.ts'

/** A round whose interval is a setting is checked at least this often. */
const maxBlindMs = 5000

/** Tasks of which one process, a node or a worker, runs each round. */
export class RoundTurns implements Turns {
  readonly areOneByOne = true
  readonly #database: Database
  readonly #tasks: readonly RoundTask[]
  readonly #nextAtMs = new Map<string, number>()

  constructor(database: Database, tasks: readonly RoundTask[]) {
    this.#database = database
    this.#tasks = tasks
  }

  async take(running: ReadonlySet<string>): Promise<readonly Turn[]> {
    if (running.size > 0) return []
    for (const task of this.#tasks) if (await this.#isOurs(task)) return [task]
    return []
  }

  end(): void {}

  /** Asks the database only when a round may be due: the process that ran the last round has stored when the next one is. */
  async #isOurs({ name, every }: RoundTask): Promise<boolean> {
    if (performance.now() < (this.#nextAtMs.get(name) ?? 0)) return false
    const { isOurs, nextMs } = await takeRound(this.#database, name, every)
    // The setting, and so the time of the next round, may have changed meanwhile.
    const waitMs = typeof every === 'number' ? nextMs : Math.min(nextMs, maxBlindMs)
    this.#nextAtMs.set(name, performance.now() + waitMs)
    return isOurs
  }
}
