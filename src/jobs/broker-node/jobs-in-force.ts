import { type JobSettings, parseJobSettings } from '../../core/jobs/job-settings.ts'
import type { Database } from '../../storage/database.ts'
import { readJobsById } from '../../storage/jobs.ts'

export interface JobInForce {
  readonly name: string
  readonly settings: JobSettings
}

/** Reads jobs with their current settings, including overrides. Workers in broker mode have no other source for them. */
export async function readJobsInForce(
  database: Database,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, JobInForce>> {
  const rows = await readJobsById(database, [...new Set(ids)])
  return new Map(
    rows.map(({ id, name, defaults, overrides }) => {
      const merged = parseJobSettings({ ...defaults, ...overrides })
      // Settings written by hand in SQL may be invalid; then the defaults apply.
      const settings = merged.ok ? merged : parseJobSettings({})
      if (!settings.ok) throw new Error('the default job settings are invalid')
      return [id, { name, settings: settings.value }]
    }),
  )
}
