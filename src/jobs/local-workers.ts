import type { ClaimedRun } from '../storage/claim-runs.ts'

/** A slot that a worker reserves for one run, which is about to be stored as claimed by it. One of the three calls ends the reservation. */
export interface KeptSlot {
  /** The incarnation, and its number for this claim. */
  readonly worker: number
  readonly request: number
  /** The run is committed, and claimed by the worker. */
  fill(run: ClaimedRun): void
  /** Nothing was claimed. */
  free(): void
  /** No response arrived, so it is unknown whether something was claimed. */
  giveUp(): void
}

export interface LocalWorker {
  /** Null: a run of this job must be stored and claimed as usual. */
  keepSlot(job: string): KeptSlot | null
}

/** The workers of this process, by the database that they use. */
const workersByUrl = new Map<string, LocalWorker[]>()

/** Returns a function that removes it from the list. */
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

/** A slot of a worker in this process that may start a run of this job at once; null if there is none. */
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
