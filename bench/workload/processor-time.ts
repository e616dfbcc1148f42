import { readdirSync, readFileSync } from 'node:fs'

/** What Linux reports times in, on every platform that Node.js runs on. */
const TICK_MS = 10
const PARENT = 1
const USER_TICKS = 11
const SYSTEM_TICKS = 12
/** Of children that have ended. */
const PAST_USER_TICKS = 13
const PAST_SYSTEM_TICKS = 14

/** Processor time that these processes have used so far, by process; those that have ended are left out. */
export function processorTimes(processIds: readonly number[]): Map<number, number> {
  const times = new Map<number, number>()
  for (const processId of processIds) {
    try {
      const fields = statOf(processId)
      times.set(processId, (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS)
    } catch {
      continue
    }
  }
  return times
}

/** Processor time of a database server, by one of its sessions: of all its sessions and helpers, those that have ended too. Zero where it can't be seen. */
export function serverProcessorTime(sessionProcessId: number): number {
  try {
    const server = Number(statOf(sessionProcessId)[PARENT])
    const past = statOf(server)
    let ticks = Number(past[PAST_USER_TICKS]) + Number(past[PAST_SYSTEM_TICKS])
    for (const name of readdirSync('/proc')) {
      if (/^\d+$/.test(name)) ticks += ticksOfChild(Number(name), server)
    }
    return ticks * TICK_MS
  } catch {
    return 0
  }
}

function ticksOfChild(processId: number, parent: number): number {
  try {
    const fields = statOf(processId)
    return Number(fields[PARENT]) === parent ? Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]) : 0
  } catch {
    return 0
  }
}

function statOf(processId: number): string[] {
  const stat = readFileSync(`/proc/${processId}/stat`, 'latin1')
  // The name comes before the numbers, in parentheses, and may itself hold spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
