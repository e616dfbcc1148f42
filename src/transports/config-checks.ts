import type { z } from 'zod'
import type { BuiltInTransportName } from './endpoint-types.ts'

const loaders: Readonly<Record<BuiltInTransportName, () => Promise<z.ZodType>>> = {
  http: async () => (await import('./http/http-config.ts')).httpConfigInput,
  function: async () => (await import('./function/function-transport.ts')).functionConfigInput,
  smtp: async () => (await import('./smtp/smtp-transport.ts')).smtpConfigInput,
  amqp: async () => (await import('./amqp/amqp-config.ts')).amqpConfigInput,
}

/**
 * The schema that validates a whole config of a built-in transport as users write it; undefined for any other transport. It is separate from the
 * descriptions, because clients bundle those for browsers, and these schemas load code that sends.
 */
export async function loadConfigChecks(transport: string): Promise<z.ZodType | undefined> {
  return Object.hasOwn(loaders, transport) ? loaders[transport as BuiltInTransportName]() : undefined
}
