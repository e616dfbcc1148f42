import type { Row } from '../harness/row.ts'
import { measureAmqpEndpoint } from '../workload/measure-amqp-endpoint.ts'

export const amqpEndpoint: Row = {
  name: 'amqp-endpoint',
  title: 'deliveries to a queue of RabbitMQ',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 0.6 },
  baselines: ['amqplib'],
  maxRounds: 3,
  measure: measureAmqpEndpoint,
}
