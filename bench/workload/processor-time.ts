import { readFileSync } from 'node:fs'

/** What Linux reports times in, on every platform that Node.js runs on. */
const TICK_MS = 10
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** Processor time that these processes have used so far, by process; those that have ended are left out. */
export function processorTimes(processIds: readonly number[]): Map<number, number> {
  const times = new Map<number, number>()
  for (const processId of processIds) {
    try {
      const stat = readFileSync(`/proc/${processId}/stat`, 'latin1')
      // The name comes before the numbers, in parentheses, and may itself hold spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      times.set(processId, (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS)
    } catch {
      continue
    }
  }
  return times
}
