import type { SiteSettingName } from './site-settings.ts'

/** A setting that a node was given from outside the database: it applies to all, and can only be changed there. */
export interface SettingPin {
  readonly name: SiteSettingName
  readonly value: unknown
  /** For a sentence: "the environment variable HOLDFAST_MAX_PENDING". */
  readonly source: string
}
