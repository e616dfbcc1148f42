import type { ClaimedRun } from '../storage/claim-runs.ts'

/** A slot that a worker keeps free for one run, which is about to be stored as claimed by it. One of the three calls ends it. */
export interface KeptSlot {
  /** The incarnation, and its number for this claim. */
  readonly worker: number
  readonly request: number
  /** The run is committed, and the worker's. */
  fill(run: ClaimedRun): void
  /** Nothing was claimed. */
  free(): void
  /** No answer came: whether something was claimed nobody knows. */
  giveUp(): void
}

export interface LocalWorker {
  /** Null: a run of this job has to wait in line. */
  keepSlot(job: string): KeptSlot | null
}

/** The workers of this process, by the database that they take from. */
const workersByUrl = new Map<string, LocalWorker[]>()

/** Returns what takes it off the list again. */
export function addLocalWorker(databaseUrl: string, worker: LocalWorker): () => void {
  const workers = workersByUrl.get(databaseUrl) ?? []
  workersByUrl.set(databaseUrl, workers)
  workers.push(worker)
  return () => {
    const at = workers.indexOf(worker)
    if (at >= 0) workers.splice(at, 1)
    if (workers.length === 0) workersByUrl.delete(databaseUrl)
  }
}

/** A slot of a worker in this process that may start a run of this job at once; null: there is none. */
export function keepLocalSlot(databaseUrl: string, job: string): KeptSlot | null {
  const workers = workersByUrl.get(databaseUrl)
  if (workers === undefined) return null
  for (const [at, worker] of workers.entries()) {
    const slot = worker.keepSlot(job)
    if (slot === null) continue
    // The next one begins with another worker.
    workers.push(...workers.splice(at, 1))
    return slot
  }
  return null
}
