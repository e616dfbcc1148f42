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

/** So many in a round, those first that nobody looked at for longest: nodes share the work. */
const maxQueues = 200

/**
 * Looks at the queues on the broker: how much waits in them, who consumes them, and whether they are what was declared. A queue of a job queue, or of a live worker, that somebody
 * deleted is declared again.
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
      // One whose worker is gone may be removed by another node at this moment: it must not be declared again.
      const mayDeclare = noted.worker === null || noted.isAlive
      seen.push({ name: noted.name, ...(await link.inspect(known.declared, mayDeclare)) })
    }
    if (seen.length > 0) await noteBrokerQueuesSeen(database, seen)
  }
}
