import { fixedQueuesOf, knownQueue, type TopologyOptions } from '../../broker/topology.ts'
import {
  type BrokerQueueSeen,
  noteBrokerQueue,
  noteBrokerQueuesSeen,
  readBrokerQueuesUnseen,
} from '../../storage/broker-queues.ts'
import type { Database } from '../../storage/database.ts'
import type { BrokerLink } from './broker-link.ts'

export interface QueueWatchOptions {
  readonly database: Database
  readonly link: BrokerLink
  readonly topology: TopologyOptions
}

/** Maximum per round, least recently checked first: nodes share the work. */
const maxQueues = 200

/**
 * Checks the queues on the broker: their length, their consumers, and whether they match their declaration. Declares a deleted queue again if it
 * belongs to a job queue or to a live worker.
 */
export class QueueWatch {
  readonly #options: QueueWatchOptions
  #isNoted = false

  constructor(options: QueueWatchOptions) {
    this.#options = options
  }

  async look(): Promise<void> {
    const { database, link, topology } = this.#options
    if (!link.isOpen) return
    if (!this.#isNoted) {
      for (const { name } of fixedQueuesOf(topology)) await noteBrokerQueue(database, name, null, null)
      this.#isNoted = true
    }
    const seen: BrokerQueueSeen[] = []
    for (const noted of await readBrokerQueuesUnseen(database, topology.prefix, maxQueues)) {
      const known = knownQueue(topology, noted)
      if (known === null || !link.isOpen) continue
      // Another node may be removing the queue of a worker that is gone: don't declare it again.
      const mayDeclare = noted.worker === null || noted.isAlive
      seen.push({ name: noted.name, ...(await link.inspect(known.declared, mayDeclare)) })
    }
    if (seen.length > 0) await noteBrokerQueuesSeen(database, seen)
  }
}
