import { randomBytes } from 'node:crypto'
import { type ChannelModel, connect } from 'amqplib'
import { Unavailable } from '../harness/row.ts'

/** A RabbitMQ that may be shared: everything that the benchmark creates has a unique name, and is deleted at the end. */
export const BROKER_URL = 'amqp://guest:guest@127.0.0.1:5672'

export async function connectBroker(): Promise<ChannelModel> {
  try {
    return await connect(BROKER_URL)
  } catch (error) {
    throw new Unavailable(`no RabbitMQ at ${new URL(BROKER_URL).host}: ${String(error)}`)
  }
}

export function brokerName(): string {
  return `holdfast-bench-${randomBytes(6).toString('hex')}`
}
