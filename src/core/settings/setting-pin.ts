import type { SiteSettingName } from './site-settings.ts'

/** A setting that a node was given from outside the database: it holds for all, and is changed there or nowhere. */
export interface SettingPin {
  readonly name: SiteSettingName
  readonly value: unknown
  /** For a sentence: "the environment variable HOLDFAST_MAX_PENDING". */
  readonly source: string
}
