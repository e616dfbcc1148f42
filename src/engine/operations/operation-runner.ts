import { isConnectionError } from '../../postgres/connection-error.ts'
import type { Database } from '../../storage/database.ts'
import { failStep, readDueOperations, stepOperation } from '../../storage/operations.ts'
import type { Logger } from '../logger.ts'
import { Signal } from '../signal.ts'
import { StepPace } from './step-pace.ts'

export interface OperationRunnerOptions {
  readonly database: Database
  readonly logger: Logger
  readonly nodeName: string
  /** False while this node may not work: it has fenced itself, or is stopping. */
  readonly mayWork: () => boolean
  /** This node is delivering: steps are short, with pauses between them. */
  readonly isBusy: () => boolean
  /** Interval between two checks: longer while notifications of new operations arrive. */
  readonly pollMs: () => number
}

const maxOperationsPerLook = 20
const busyPollMs = 50
/** How long a stop waits for a step in progress; it is rolled back when its connection closes. */
const stopWaitMs = 2000

/**
 * Executes bulk actions, one step at a time, on every node. A step locks its operation, so that two nodes never do the same
 * step, and when a node dies, the others continue its operations.
 */
export class OperationRunner {
  readonly #options: OperationRunnerOptions
  readonly #wake = new Signal()
  readonly #pace = new StepPace()
  #running: Promise<void> | null = null
  #isStopped = false

  constructor(options: OperationRunnerOptions) {
    this.#options = options
  }

  /** Safe to call twice. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Lets a step in progress finish, if it does so soon. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake.raise()
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopWaitMs)
    })
    await Promise.race([this.#running, expired])
    clearTimeout(timer)
  }

  /** An operation was created, resumed or cancelled. */
  wake(): void {
    this.#wake.raise()
  }

  async #run(): Promise<void> {
    const { logger, mayWork, pollMs } = this.#options
    while (!this.#isStopped) {
      let waitMs = pollMs()
      if (mayWork()) {
        try {
          waitMs = await this.#stepAll()
        } catch (error) {
          logger[isConnectionError(error) ? 'warn' : 'error'](
            { error: String(error) },
            'Reading the bulk operations that are due failed; retrying',
          )
        }
      }
      if (waitMs > 0) await this.#wake.wait(waitMs)
    }
  }

  /** Runs one step of each operation that is due. Returns how long to wait before the next check. */
  async #stepAll(): Promise<number> {
    const { database, mayWork } = this.#options
    const pollMs = this.#options.pollMs()
    const { ids, nextMs } = await readDueOperations(database, maxOperationsPerLook)
    let hasStepped = false
    for (const id of ids) {
      if (this.#isStopped || !mayWork()) return pollMs
      if (await this.#step(id)) hasStepped = true
    }
    // The operation is due but locked: another node is running it.
    if (ids.length > 0) return hasStepped ? this.#pace.restMs : busyPollMs
    return Math.ceil(Math.max(1, Math.min(pollMs, nextMs ?? pollMs)))
  }

  async #step(id: number): Promise<boolean> {
    const { database, isBusy, logger, nodeName } = this.#options
    const startedMs = performance.now()
    try {
      const hasStepped = (await stepOperation(database, id, nodeName, this.#pace.rows(isBusy()))) !== null
      if (hasStepped) this.#pace.note(performance.now() - startedMs, isBusy())
      return hasStepped
    } catch (error) {
      if (isConnectionError(error)) throw error
      logger.error({ operation: id, error: String(error) }, 'A step of a bulk operation failed')
      await failStep(database, id, error instanceof Error ? error.message : String(error))
      return false
    }
  }
}
