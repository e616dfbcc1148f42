import { z } from 'zod'
import type { Transport } from '../transport.ts'
import { FunctionChannel } from './function-channel.ts'
import type { Handler } from './handler.ts'

export interface FunctionTransportOptions {
  /** Handlers may be added while the engine runs. */
  readonly handlers: ReadonlyMap<string, Handler>
}

const shape = {
  /** Default: the endpoint's own name. */
  handler: z.string().min(1).max(200).optional(),
  timeoutMs: z.int().min(1).max(3_600_000).default(10_000),
}

/** As stored: a field that only a newer version knows is ignored. */
const functionConfig = z.object(shape)

/** As users write it: a misspelt field is refused. `classify` is validated for every transport alike. */
export const functionConfigInput = z.strictObject({ ...shape, classify: z.unknown().optional() })

/**
 * Delivers to handlers in this process.
 *
 * @example
 * const handlers = new Map<string, Handler>([['welcome-mail', async (message) => sendMail(message.payload)]])
 * const transport = functionTransport({ handlers })
 */
export function functionTransport(options: FunctionTransportOptions): Transport {
  return {
    name: 'function',
    parseConfig: (config) => functionConfigInput.parse(config),
    open(endpoint, config) {
      const { handler, timeoutMs } = functionConfig.parse(config)
      return new FunctionChannel({
        endpoint,
        handlerName: handler ?? endpoint,
        timeoutMs,
        handlers: options.handlers,
      })
    },
  }
}
