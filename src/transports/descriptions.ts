import { amqpDescription } from './amqp/description.ts'
import { functionDescription } from './function/description.ts'
import { httpDescription } from './http/description.ts'
import { smtpDescription } from './smtp/description.ts'
import type { TransportDescription } from './transport-description.ts'

/** Every transport that comes with Holdfast. The sending code is in `built-in-transports.ts`. */
export const builtInDescriptions = [
  httpDescription,
  functionDescription,
  smtpDescription,
  amqpDescription,
] as const

/** Returns undefined for a custom transport. */
export function descriptionOf(name: string): TransportDescription | undefined {
  return transportDescriptions.find((description) => description.name === name)
}

/** The same list with a common type. */
export const transportDescriptions = builtInDescriptions as unknown as readonly TransportDescription[]
