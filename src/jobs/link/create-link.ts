import { amqpUrlProblem } from '../../amqp/amqp-url.ts'
import { defaultTopology } from '../../broker/topology.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { Logger } from '../../engine/logger.ts'
import { requireDatabaseUrl } from '../../postgres/connect/database-url.ts'
import { BrokerLink } from '../broker/broker-link.ts'
import type { WorkerOptions } from '../worker-options.ts'
import { PostgresLink } from './postgres-link.ts'
import type { WorkerLink } from './worker-link.ts'

/** Creates a link to the broker if one is configured, otherwise to the database. */
export function createLink(options: WorkerOptions, name: string, logger: Logger): WorkerLink {
  const { amqpUrl, amqpPrefix: prefix = defaultTopology.prefix } = options
  if (amqpUrl === undefined) {
    return new PostgresLink({
      databaseUrl: requireDatabaseUrl(options.databaseUrl),
      logger,
      keeper: options.keeper,
      onRecovered: (recovered) => options.onRecovered?.(recovered),
    })
  }
  const problem = amqpUrlProblem(amqpUrl)
  if (problem !== null) throw new HoldfastError('configuration_invalid', `The URL of the broker ${problem}.`)
  return new BrokerLink({ amqpUrl, prefix, name, logger })
}
