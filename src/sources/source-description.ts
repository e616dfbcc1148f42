import type { z } from 'zod'
import type { EndpointFlag } from '../core/endpoints/endpoint-flag.ts'
import type { CommonSourceInput } from '../core/sources/mapping-input.ts'

interface TypedSource extends CommonSourceInput {
  readonly type: string
  readonly config: object
}

/** What people and programs are told of a type of source. It brings no code that reads, so that a client can have it. */
export interface SourceDescription<Source extends TypedSource = TypedSource> {
  readonly name: Source['type']
  /** What stands after "reads messages from". */
  readonly readsFrom: string
  /** The `config` to readers of the API's description. */
  readonly config: z.ZodObject & z.ZodType<unknown, Source['config']>
  /** Decides the type of such sources too. */
  readonly example: Source
  /** What is set in `config` by flags of the CLI. */
  readonly flags: readonly EndpointFlag[]
  /** Where messages come from, in a list. */
  targetOf(config: Source['config']): string
}

export function describeSource<Source extends TypedSource>(
  description: SourceDescription<Source>,
): SourceDescription<Source> {
  return description
}
