import { readdirSync, readFileSync } from 'node:fs'

/** The unit in which Linux reports CPU time, on every platform that Node.js supports. */
const TICK_MS = 10
const PARENT = 1
const USER_TICKS = 11
const SYSTEM_TICKS = 12
/** CPU time of ended child processes. */
const PAST_USER_TICKS = 13
const PAST_SYSTEM_TICKS = 14

/** CPU time that these processes have used so far, by process; ended processes are left out. */
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

/**
 * CPU time of a database server, found by one of its sessions: of all sessions and background processes, including ended ones. Zero where it can't be
 * read.
 */
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
  // The process name comes before the numbers, in parentheses, and may contain spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
