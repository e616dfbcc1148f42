import { type JobSettings, parseJobSettings } from '../../core/jobs/job-settings.ts'
import type { Database } from '../../storage/database.ts'
import { readJobsById } from '../../storage/jobs.ts'

export interface JobInForce {
  readonly name: string
  readonly settings: JobSettings
}

/** Jobs with the settings that hold now, overrides included: workers of broker mode know no others. */
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
