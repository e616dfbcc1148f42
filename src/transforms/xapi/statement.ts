import type { Verb } from './vocabulary.ts'

/** The parts of xAPI 1.0.3 that the transform creates. */

export type Extensions = Readonly<Record<string, unknown>>
export type LanguageMap = Readonly<Record<string, string>>

export interface Definition {
  readonly type: string
  readonly name?: LanguageMap
  readonly description?: LanguageMap
  readonly interactionType?: string
  readonly extensions?: Extensions
}

export interface Activity {
  readonly objectType: string
  readonly id: string
  readonly definition: Definition
}

export interface Result {
  readonly score?: {
    readonly scaled: number
    readonly raw: number
    readonly min?: number
    readonly max?: number
  }
  readonly success?: boolean
  readonly completion?: boolean
  readonly duration?: string
  readonly response?: string
  readonly extensions?: Extensions
}

export type Agent =
  | {
      readonly objectType: 'Agent'
      readonly account: { readonly name: string; readonly homePage: string }
    }
  | { readonly objectType: 'Agent'; readonly mbox: string }
  | { readonly objectType: 'Agent'; readonly mbox_sha1sum: string }

export interface Context {
  readonly statement?: { readonly objectType: 'StatementRef'; readonly id: string }
  readonly contextActivities?: {
    readonly parent?: readonly Activity[]
    readonly grouping?: readonly Activity[]
  }
  readonly extensions: Extensions
}

export interface Statement {
  readonly id: string
  readonly version: '1.0.3'
  readonly actor: Agent
  readonly verb: Verb
  readonly object: Activity
  readonly result?: Result
  readonly context: Context
  readonly timestamp: string
}

/** The fields that have a value, so that no nulls are sent to a record store. */
export function present<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null) kept[name] = value
  return kept as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}
