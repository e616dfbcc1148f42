import type { Holdfast } from '../../dist/index.js'
import type { SettlingWatch } from './watch-settling.ts'

/** Starts the node and returns the deliveries committed per second, from a tenth of them to the last. */
export async function drain(
  holdfast: Holdfast,
  watch: SettlingWatch,
  messages: number,
): Promise<{ perSecond: number; elapsedMs: number }> {
  const warmUp = messages / 10
  const started = watch.whenSettled(watch.settled + warmUp)
  const ended = watch.whenSettled(watch.settled + messages)
  await holdfast.start()
  const elapsedMs = (await ended) - (await started)
  return { perSecond: ((messages - warmUp) / elapsedMs) * 1000, elapsedMs }
}
