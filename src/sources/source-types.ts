import type { builtInSourceDescriptions } from './descriptions.ts'
import type { SourceDescription } from './source-description.ts'

type BuiltIn = (typeof builtInSourceDescriptions)[number]
type SourceOf<Description> = Description extends SourceDescription<infer Source> ? Source : never

/** A source as a person writes it; its `type` decides what its `config` is. */
export type SourceInput = SourceOf<BuiltIn>

export type BuiltInSourceType = BuiltIn['name']

/** What is left out stays as it is. */
export interface SourceChanges {
  /** Changes to the settings of its type. */
  readonly config: Partial<SourceInput['config']>
}
