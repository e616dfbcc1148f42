import type { ClaimedRun } from '../storage/claim-runs.ts'

/** A slot that a worker reserves for one run that is about to be stored as claimed by it. One of the three calls ends the reservation. */
export interface KeptSlot {
  /** The worker's incarnation, and the number of this claim. */
  readonly worker: number
  readonly request: number
  /** The run is committed, and claimed by the worker. */
  fill(run: ClaimedRun): void
  /** Nothing was claimed. */
  free(): void
  /** No response arrived: it is unknown whether the run was claimed. */
  giveUp(): void
}

export interface LocalWorker {
  /** Null: a run of this job must be stored and claimed as usual. */
  keepSlot(job: string): KeptSlot | null
}

/** The workers of this process, by database URL. */
const workersByUrl = new Map<string, LocalWorker[]>()

/** Registers a worker. Returns a function that removes it. */
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

/** Reserves a slot of a worker in this process that can start a run of this job at once; null if there is none. */
export function keepLocalSlot(databaseUrl: string, job: string): KeptSlot | null {
  const workers = workersByUrl.get(databaseUrl)
  if (workers === undefined) return null
  for (const [at, worker] of workers.entries()) {
    const slot = worker.keepSlot(job)
    if (slot === null) continue
    // Rotate: the next call begins with another worker.
    workers.push(...workers.splice(at, 1))
    return slot
  }
  return null
}
