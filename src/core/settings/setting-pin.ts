import type { SiteSettingName } from './site-settings.ts'

/** A setting that a node got from outside the database: it applies to all nodes, and can only be changed at its source. */
export interface SettingPin {
  readonly name: SiteSettingName
  readonly value: unknown
  /** For messages, like "the environment variable HOLDFAST_MAX_PENDING". */
  readonly source: string
}
