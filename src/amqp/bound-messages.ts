import type { Channel } from 'amqplib'
import { BrokerError } from './broker-connection.ts'

/** The largest that RabbitMQ accepts by default: 128 MiB before version 4, 16 MiB since. */
const maxMessageBytes = 128 * 1024 * 1024
/** A broker fills its frames of at least 4 kB; only the last frame of a message is smaller. */
const minFrameBytes = 1_024
const spareFrames = 16

/** A frame as amqplib passes it to a channel: the first frame of a message has its size (method frames have none), the next ones its body. */
interface Frame {
  readonly size?: unknown
  readonly content?: unknown
}

/** Refuses a message that is too large or comes in tiny frames: amqplib buffers a message's body and frames in memory without a limit. */
export function boundMessages(channel: Channel, onRefused: (error: BrokerError) => void): void {
  const receiver = channel as unknown as { accept: (frame: Frame) => void }
  const accept = receiver.accept.bind(channel)
  let isRefused = false
  let frames = 0
  let bytes = 0
  const refuse = (reason: string): void => {
    isRefused = true
    onRefused(new BrokerError('protocol_error', reason))
  }
  receiver.accept = (frame) => {
    if (isRefused) return
    if (typeof frame.size === 'number') {
      frames = 0
      bytes = 0
      if (frame.size > maxMessageBytes)
        return refuse(`it sent a message of ${frame.size} bytes; the limit is ${maxMessageBytes}`)
    }
    if (frame.content instanceof Buffer) {
      frames += 1
      bytes += frame.content.length
      if (frames > spareFrames + bytes / minFrameBytes)
        return refuse('it sent a message in frames that are too small')
    }
    accept(frame)
  }
}
