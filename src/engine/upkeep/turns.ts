import type { TaskSummary } from './upkeep-task.ts'

export interface TaskEnd {
  readonly durationMs: number
  readonly summary: TaskSummary | null
  readonly error: string | null
}

/** One run of a task that this process has to do. */
export interface Turn {
  readonly name: string
  readonly timeoutMs?: number | undefined
  /** Aborted if the turn ends early. */
  readonly ended?: AbortSignal
  run(signal: AbortSignal): Promise<TaskSummary | void>
  /** Records how the run ended. */
  finish?(end: TaskEnd): Promise<void>
}

/** Decides which tasks of one kind this process has to run, and when. */
export interface Turns {
  /** Tasks run one after the other, because the process has few connections. */
  readonly areOneByOne: boolean
  /** Returns the tasks to start now, except those that are running. */
  take(running: ReadonlySet<string>): Promise<readonly Turn[]>
  /** Ends all turns. */
  end(): void
}
