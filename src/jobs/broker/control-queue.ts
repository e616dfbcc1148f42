import { randomUUID } from 'node:crypto'
import type { Channel } from 'amqplib'
import { type ControlMessage, controlMessage, readMessage } from '../../broker/protocol.ts'

/** Declares an exclusive queue of this connection, on which nodes answer, and passes on its messages. Returns its name. */
export async function openControlQueue(
  channel: Channel,
  prefix: string,
  hear: (message: ControlMessage) => void,
): Promise<string> {
  const name = `${prefix}.control.${randomUUID()}`
  await channel.assertQueue(name, { exclusive: true, autoDelete: true, durable: false })
  await channel.consume(
    name,
    (message) => {
      const read = message === null ? null : readMessage(controlMessage, message.content)
      // Ignore messages of later versions that this version doesn't know.
      if (read?.ok === true) hear(read.message)
    },
    { noAck: true },
  )
  return name
}
