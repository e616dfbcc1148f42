import { describe } from 'vitest'
import { brokerUrl, wantedBrokerUrl } from '../support/amqp/broker.ts'
import { overBroker } from '../support/processes/fleet-link.ts'
import { describeWorkerFaults } from './worker-faults.ts'

describe.skipIf(brokerUrl === null)('workers over RabbitMQ', () =>
  describeWorkerFaults(overBroker(brokerUrl ?? wantedBrokerUrl)),
)
