import type { Turn, Turns } from './turns.ts'
import type { OwnTask } from './upkeep-task.ts'

/** A timer may fire slightly early; the task must not wait for the next check because of that. */
const timerErrorMs = 2

/** Tasks that every process runs for itself. Each first runs after its interval. */
export class OwnTurns implements Turns {
  readonly areOneByOne = false
  readonly #tasks: readonly OwnTask[]
  readonly #nextAtMs: Map<string, number>

  constructor(tasks: readonly OwnTask[]) {
    this.#tasks = tasks
    this.#nextAtMs = new Map(tasks.map(({ name, every }) => [name, performance.now() + every]))
  }

  async take(running: ReadonlySet<string>): Promise<readonly Turn[]> {
    const nowMs = performance.now()
    const due = this.#tasks.filter(
      ({ name }) => !running.has(name) && nowMs + timerErrorMs >= (this.#nextAtMs.get(name) ?? 0),
    )
    for (const { name, every } of due) this.#nextAtMs.set(name, nowMs + every)
    return due
  }

  end(): void {}
}
