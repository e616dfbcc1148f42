import type { Duplex } from 'node:stream'

/**
 * Sends everything written within one event-loop callback with one system call. amqplib writes each message separately, and each write
 * wakes the broker, which then reads and stores few messages at a time.
 */
export function gatherWrites(stream: Duplex): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  const uncork = (): void => stream.uncork()
  stream.write = (...args: unknown[]): boolean => {
    if (stream.writableCorked === 0) {
      stream.cork()
      process.nextTick(uncork)
    }
    return write(...args)
  }
}
