import { join } from 'node:path'
import type { Logger } from '../engine/logger.ts'
import { Journal, type JournalEntry } from './journal.ts'
import { lockJournalFolder } from './lock-journal-folder.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface OpenedJournal {
  readonly journal: Journal
  /** Unsettled results of an earlier process. */
  readonly left: JournalEntry[]
  /** Unlocks the folder for other processes. */
  readonly release: () => Promise<void>
}

/** Opens the journal in this folder, or in a folder for workers of this name; the folder stays locked until `release`. */
export async function openJournal(
  folder: string | undefined,
  workerName: string,
  limits: WorkerLimits,
  logger: Logger,
): Promise<OpenedJournal> {
  const base =
    folder ??
    join(process.env['HOLDFAST_DATA_DIR'] ?? '.holdfast', 'worker-journal', encodeURIComponent(workerName))
  const locked = await lockJournalFolder(base)
  try {
    const journal = new Journal({
      folder: locked.folder,
      maxBytes: limits.maxJournalBytes,
      retentionMs: limits.journalRetentionMs,
    })
    const left = journal.open()
    if (left.length > 0)
      logger.info(
        { results: left.length, folder: locked.folder },
        'The journal has results that are not stored in the database yet; storing them',
      )
    return { journal, left, release: locked.release }
  } catch (error) {
    await locked.release()
    throw error
  }
}
