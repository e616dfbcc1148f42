import {
  cleanupDeadLetters,
  emptyPartition,
  isLockTimeout,
  keepNeeded,
  markRetiring,
  purgeArchive,
  readRetiring,
  removePartition,
} from '../../storage/archive.ts'
import { isNotLeader } from '../../storage/leadership.ts'
import type { MaintenanceContext, MaintenanceTask } from './upkeep-task.ts'

const hourMs = 3_600_000
const maxPurgedRows = 5000
const maxPurges = 200
/** Copying many rows that are still needed from a partition takes long. */
const retireTimeoutMs = 600_000

/** Retention of the archive and of dead letters. */
export function retentionTasks(): MaintenanceTask[] {
  return [
    {
      name: 'retention',
      schedule: { everyMs: hourMs },
      timeoutMs: retireTimeoutMs,
      run: retirePartitions,
    },
    {
      name: 'archive-purge',
      schedule: { everyMs: hourMs },
      run: async (context, signal) => ({ purged: await inPieces(context, signal, purgeArchive) }),
    },
    {
      name: 'dead-letter-retention',
      schedule: { everyMs: hourMs },
      run: async (context, signal) => ({ removed: await inPieces(context, signal, cleanupDeadLetters) }),
    },
  ]
}

/**
 * Each step is its own transaction, so that no other session waits for the whole task. A partition that can't be locked now is
 * retried in an hour; one that can't be removed doesn't stop the others.
 */
export async function retirePartitions(
  { fenced }: Pick<MaintenanceContext, 'fenced'>,
  signal: AbortSignal,
): Promise<{ marked: number; kept: number; dropped: number; waiting: number }> {
  const marked = await fenced(markRetiring)
  const retiring = await fenced(readRetiring)
  const failures: unknown[] = []
  let kept = 0
  let dropped = 0
  for (const partition of retiring) {
    if (signal.aborted) break
    try {
      for (;;) {
        const some = await fenced((client) => keepNeeded(client, partition, maxPurgedRows))
        kept += some
        if (some < maxPurgedRows || signal.aborted) break
      }
      if (signal.aborted) break
      await fenced((client) => emptyPartition(client, partition))
      await fenced((client) => removePartition(client, partition))
      dropped += 1
    } catch (error) {
      if (isNotLeader(error)) throw error
      if (!isLockTimeout(error)) failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return { marked, kept, dropped, waiting: retiring.length - dropped }
}

async function inPieces(
  { fenced }: MaintenanceContext,
  signal: AbortSignal,
  purge: typeof purgeArchive,
): Promise<number> {
  let purged = 0
  for (let piece = 0; piece < maxPurges && !signal.aborted; piece += 1) {
    const some = await fenced((client) => purge(client, maxPurgedRows))
    purged += some
    if (some < maxPurgedRows) break
  }
  return purged
}
