import { amqpSourceDescription } from './amqp/description.ts'
import type { SourceDescription } from './source-description.ts'

/** Every type of source. The implementations are in `built-in-sources.ts`. */
export const builtInSourceDescriptions = [amqpSourceDescription] as const

/** The same list for code that treats all types alike. */
export const sourceDescriptions = builtInSourceDescriptions as unknown as readonly SourceDescription[]

/** Undefined for a type of a newer version. */
export function sourceDescriptionOf(type: string): SourceDescription | undefined {
  return sourceDescriptions.find(({ name }) => name === type)
}
