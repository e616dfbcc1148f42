import type { ResultsMessage } from '../../broker/protocol.ts'
import { sharedQueue, type TopologyOptions } from '../../broker/topology.ts'
import type { Logger } from '../../engine/logger.ts'
import type { Database } from '../../storage/database.ts'
import { returnLostMessages } from '../../storage/dispatches.ts'
import type { BrokerLink } from './broker-link.ts'

type Join = Extract<ResultsMessage, { readonly kind: 'join' }>

export interface LostQueuesOptions {
  readonly database: Database
  readonly link: BrokerLink
  readonly topology: TopologyOptions
  readonly logger: Logger
  readonly by: () => number
}

/**
 * Workers that share a queue notice within this time that it doesn't answer. Their reports during this time after a replacement are about the old
 * queue.
 */
const replacedForMs = 60_000
const maxReturnedRows = 500

/**
 * Handles queues that workers can't consume, because somebody deleted them or they have no leader. RabbitMQ 3.10 forgets a quorum queue that was
 * declared within about 3 s before the broker was killed: the queue exists, but accepts and delivers no message until it is deleted. PostgreSQL has
 * the record of every run, so deleting the queue loses nothing.
 */
export class LostQueues {
  readonly #options: LostQueuesOptions
  /** Time of the last replacement, by queue. */
  readonly #replacedAtMs = new Map<string, number>()

  constructor(options: LostQueuesOptions) {
    this.#options = options
  }

  /** Deletes queues without a leader, so that they can be declared again. Returns the queues whose messages are lost. */
  async remove({ lostQueues = [], name: worker }: Join): Promise<readonly string[]> {
    const { link, logger, topology } = this.#options
    const nowMs = performance.now()
    for (const [queue, atMs] of this.#replacedAtMs)
      if (nowMs - atMs > replacedForMs) this.#replacedAtMs.delete(queue)
    const gone: string[] = []
    for (const { name, reason } of lostQueues) {
      if (this.#replacedAtMs.has(name) || !isQueueOf(topology, worker, name)) continue
      if (reason === 'unanswered') {
        logger.warn({ queue: name }, 'The broker has no leader for a queue; it is deleted and declared anew')
        await link.remove(name)
      }
      this.#replacedAtMs.set(name, nowMs)
      gone.push(name)
    }
    return gone
  }

  /** Returns runs whose messages were in these queues; otherwise they would count as dispatched until their TTL expires. */
  async returnRuns(gone: readonly string[], worker: string, jobQueues: readonly string[]): Promise<void> {
    const { database, topology, logger, by } = this.#options
    const shared = jobQueues.filter((queue) => gone.includes(sharedQueue(topology, queue).name))
    const isOwnGone = gone.length > shared.length
    let runs = 0
    let returned: number
    do {
      returned = await returnLostMessages(database, shared, isOwnGone ? worker : null, maxReturnedRows, by())
      runs += returned
    } while (returned === maxReturnedRows)
    if (runs > 0)
      logger.info({ runs }, 'Runs whose messages were lost with a queue were returned to their queues')
  }
}

/** Whether a worker of this name consumes the queue; reports about other queues are ignored. */
function isQueueOf({ prefix }: TopologyOptions, worker: string, queue: string): boolean {
  const own = `${prefix}.worker.${worker}`
  return queue === own || queue.startsWith(`${own}.ttl-`) || queue.startsWith(`${prefix}.queue.`)
}
