import type { builtInSourceDescriptions } from './descriptions.ts'
import type { SourceDescription } from './source-description.ts'

type BuiltIn = (typeof builtInSourceDescriptions)[number]
type SourceOf<Description> = Description extends SourceDescription<infer Source> ? Source : never

/** A source as a user writes it; its `type` determines the fields of `config`. */
export type SourceInput = SourceOf<BuiltIn>

export type BuiltInSourceType = BuiltIn['name']

/** Fields that are left out stay unchanged. */
export interface SourceChanges {
  /** Changes to the settings of its type. */
  readonly config: Partial<SourceInput['config']>
}
