import type { PoolClient } from 'pg'
import type { MaintenanceTask } from './upkeep-task.ts'

/** Runs steps of one transaction each, until one finds fewer rows than its limit. */
async function inSteps(maxRows: number, signal: AbortSignal, step: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const some = await step()
    total += some
    if (some < maxRows || signal.aborted) return total
  }
}

interface Described {
  readonly name: string
  readonly everyMs: number
  readonly timeoutMs?: number
  /** The name of the row count in the task's summary, e.g. `purged`. */
  readonly counts: string
}

interface SteppedTask extends Described {
  /** Maximum number of rows per step. */
  readonly maxRows: number
  /** Processes at most this many rows; returns how many. */
  readonly step: (client: PoolClient, maxRows: number) => Promise<number>
}

/** A task of bounded steps, each in its own transaction. */
export function steppedTask({ counts, everyMs, maxRows, step, ...task }: SteppedTask): MaintenanceTask {
  return {
    ...task,
    schedule: { everyMs },
    run: async ({ fenced }, signal) => ({
      [counts]: await inSteps(maxRows, signal, () => fenced((client) => step(client, maxRows))),
    }),
  }
}

/** A task of one bounded step. */
export function singleStepTask(
  task: Described & { readonly step: (client: PoolClient) => Promise<unknown> },
): MaintenanceTask {
  const { counts, everyMs, step, ...described } = task
  return {
    ...described,
    schedule: { everyMs },
    run: async ({ fenced }) => ({ [counts]: await fenced((client) => step(client)) }),
  }
}
