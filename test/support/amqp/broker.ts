import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from 'amqplib'

export const wantedBrokerUrl = process.env['HOLDFAST_TEST_AMQP_URL'] ?? 'amqp://127.0.0.1:5672'

/** A real RabbitMQ that answers; null: there is none, and tests that need it are skipped. */
export const brokerUrl: string | null = (await answers(wantedBrokerUrl)) ? wantedBrokerUrl : null

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = net.connect({ host: hostname, port: Number(port || 5672), timeout: 2_000 })
    const end = (isThere: boolean): void => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

/** The receiving side of a test: queues of its own, which the broker deletes with its connection. */
export class TestBroker {
  readonly #connection: ChannelModel
  readonly channel: Channel

  private constructor(connection: ChannelModel, channel: Channel) {
    this.#connection = connection
    this.channel = channel
  }

  static async connect(): Promise<TestBroker> {
    const connection = await connect(brokerUrl ?? wantedBrokerUrl)
    return new TestBroker(connection, await connection.createChannel())
  }

  name(kind: string): string {
    return `holdfast-test-${kind}-${randomBytes(6).toString('hex')}`
  }

  async queue(queueArguments: Record<string, unknown> = {}): Promise<string> {
    const name = this.name('queue')
    await this.channel.assertQueue(name, { durable: false, exclusive: true, arguments: queueArguments })
    return name
  }

  async consume(queue: string, onMessage: (message: ConsumeMessage) => void): Promise<void> {
    await this.channel.consume(queue, (message) => message !== null && onMessage(message), { noAck: true })
  }

  async stop(): Promise<void> {
    await this.#connection.close()
  }
}

/** `connection.blocked`, as a broker writes it whose memory or disk is short. */
export function blockedFrame(reason: string): Buffer {
  const text = Buffer.from(reason)
  return methodFrame(0, 10, 60, Buffer.concat([Buffer.from([text.length]), text]))
}

export function unblockedFrame(): Buffer {
  return methodFrame(0, 10, 61, Buffer.alloc(0))
}

/** `basic.ack` of one message on the first channel. */
export function ackFrame(deliveryTag: number): Buffer {
  const fields = Buffer.alloc(9)
  fields.writeBigUInt64BE(BigInt(deliveryTag))
  return methodFrame(1, 60, 80, fields)
}

function methodFrame(channel: number, classId: number, methodId: number, fields: Buffer): Buffer {
  const frame = Buffer.alloc(11)
  frame.writeUInt8(1, 0)
  frame.writeUInt16BE(channel, 1)
  frame.writeUInt32BE(4 + fields.length, 3)
  frame.writeUInt16BE(classId, 7)
  frame.writeUInt16BE(methodId, 9)
  return Buffer.concat([frame, fields, Buffer.from([0xce])])
}
