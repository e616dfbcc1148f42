import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../engine/logger.ts'
import { BrokerUnavailableError } from '../../jobs/broker/broker-unavailable-error.ts'

const firstPauseMs = 250
const maxPauseMs = 5000

/**
 * Runs `start`, and repeats it while the broker is unavailable or no node answers behind it, with log messages. Any other failure ends it at once.
 */
export async function untilBrokerIsThere<Result>(
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
  start: () => Promise<Result>,
): Promise<Result> {
  let said = ''
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await start()
    } catch (error) {
      if (signal.aborted || !(error instanceof BrokerUnavailableError)) throw error
      if (error.message !== said) logger.warn({ reason: error.message }, 'Waiting for the broker')
      said = error.message
      await delay(pauseMs / 2 + (Math.random() * pauseMs) / 2, undefined, { signal })
    }
  }
}
