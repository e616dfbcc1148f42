import { CronTimes } from '../../core/jobs/cron-times.ts'
import type { TaskEnding, TaskSchedule } from '../../storage/maintenance-tasks.ts'

/** A failed task is retried after this time, unless its next turn comes earlier. */
export const retryMs = 60_000

/** When a task runs for the first time; null = at once. */
export function firstRun(schedule: TaskSchedule, nowMs: number): Date | null {
  return 'cron' in schedule ? nextOfCron(schedule, nowMs) : null
}

/** When a task that has just ended runs again. */
export function nextRun(schedule: TaskSchedule, hasFailed: boolean, nowMs: number): TaskEnding['next'] {
  if ('everyMs' in schedule) {
    return { afterStartMs: hasFailed ? Math.min(retryMs, schedule.everyMs) : schedule.everyMs }
  }
  const at = nextOfCron(schedule, nowMs)
  return { at: hasFailed ? new Date(Math.min(at.getTime(), nowMs + retryMs)) : at }
}

function nextOfCron(schedule: { cron: string; timezone?: string }, nowMs: number): Date {
  const at = new CronTimes(schedule.cron, schedule.timezone ?? 'UTC').next(new Date(nowMs))
  if (at === null) throw new Error(`the schedule "${schedule.cron}" never comes round`)
  return at
}
