import type { z } from 'zod'
import type { EndpointFlag } from '../core/endpoints/endpoint-flag.ts'
import type { CommonSourceInput } from '../core/sources/mapping-input.ts'

interface TypedSource extends CommonSourceInput {
  readonly type: string
  readonly config: object
}

/** Describes a type of source to users and programs. It imports no implementation, so that clients can use it. */
export interface SourceDescription<Source extends TypedSource = TypedSource> {
  readonly name: Source['type']
  /** The text after "reads messages from". */
  readonly readsFrom: string
  /** The schema of `config` in the API's description. */
  readonly config: z.ZodObject & z.ZodType<unknown, Source['config']>
  /** Also determines the TypeScript type of such sources. */
  readonly example: Source
  /** CLI flags that set fields of `config`. */
  readonly flags: readonly EndpointFlag[]
  /** Where messages come from, as shown in a list. */
  targetOf(config: Source['config']): string
}

export function describeSource<Source extends TypedSource>(
  description: SourceDescription<Source>,
): SourceDescription<Source> {
  return description
}
