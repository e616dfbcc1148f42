import { JobWorker } from '../jobs/worker.ts'
import type { WorkerOptions } from '../jobs/worker-options.ts'

/**
 * Creates and starts a worker for these jobs: it claims runs until `stop()`.
 *
 * @example
 * const worker = await createWorker({ databaseUrl, jobs: [sendInvoice], concurrency: 20 })
 * process.once('SIGTERM', () => void worker.stop())
 */
export async function createWorker(options: WorkerOptions): Promise<JobWorker> {
  const worker = new JobWorker(options)
  try {
    await worker.start()
  } catch (error) {
    await worker.stop()
    throw error
  }
  return worker
}
