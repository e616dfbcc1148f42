import { randomBytes } from 'node:crypto'
import { Holdfast } from '../../../src/index.ts'
import { removeTopology } from '../amqp/remove-topology.ts'
import type { WorkerSettings } from './worker-settings.ts'

/** How the workers of a test get their runs. */
export interface FleetLink {
  readonly target: 'database' | 'broker'
  /** What a proxy can stand in front of. */
  readonly serverUrl: string
  /** For a worker, by way of `url` if there is one. */
  settings(url?: string): Pick<WorkerSettings, 'databaseUrl' | 'amqpUrl' | 'amqpPrefix'>
  stop(): Promise<void>
}

export interface NamedLink {
  readonly name: string
  readonly open: (databaseUrl: string) => Promise<FleetLink>
}

export const overPostgres: NamedLink = {
  name: 'PostgreSQL',
  open: async (databaseUrl) => ({
    target: 'database',
    serverUrl: databaseUrl,
    settings: (url = databaseUrl) => ({ databaseUrl: url }),
    stop: async () => {},
  }),
}

/** With a node in the test's process, and names of its own on the broker. */
export function overBroker(amqpUrl: string): NamedLink {
  return {
    name: 'RabbitMQ',
    open: async (databaseUrl) => {
      const prefix = `holdfast-test-${randomBytes(6).toString('hex')}`
      const node = new Holdfast({ databaseUrl, broker: { url: amqpUrl, topology: { prefix } } })
      await node.start()
      return {
        target: 'broker',
        serverUrl: amqpUrl,
        settings: (url = amqpUrl) => ({ amqpUrl: url, amqpPrefix: prefix }),
        stop: async () => {
          await node.stop()
          await removeTopology(amqpUrl, prefix, databaseUrl)
        },
      }
    },
  }
}
