import type { Egress } from '../network/egress.ts'
import { amqpSource } from './amqp/amqp-source.ts'
import type { SourceType } from './source.ts'
import type { BuiltInSourceType } from './source-types.ts'

/** The implementation of each description in `descriptions.ts`. */
export function builtInSources({ egress }: { readonly egress: Egress }): readonly SourceType[] {
  const byName: Readonly<Record<BuiltInSourceType, SourceType>> = { amqp: amqpSource({ egress }) }
  return Object.values(byName)
}
