import type { z } from 'zod'
import type { HoldfastClient } from '../../../client/holdfast-client.ts'
import { operations } from '../../../contract/operations.ts'
import { HoldfastError } from '../../../core/errors.ts'
import { parseJobSettings } from '../../../core/jobs/job-settings.ts'
import { collect, type Existing, type Fields, type Kind } from '../kind.ts'

const schema = operations.jobs.create.body as z.ZodObject
const timing = ['cron', 'timezone', 'payload', 'overlap', 'catchUp'] as const
const usualTiming: Fields = { timezone: 'UTC', payload: null, overlap: 'skip', catchUp: 'one' }

/** Settings of a job that were set outside its code. Jobs without any are ignored. */
export const jobKind: Kind = {
  list: 'jobs',
  noun: 'job',
  schema: schema as unknown as z.ZodType<{ readonly name: string }>,
  merged: ['retry', 'autoDisable'],
  hasReferences: false,
  read: async (client) => {
    const jobs = await collect(client.paginate(client.jobs.list))
    return jobs.map(toExisting).filter((job) => job !== null)
  },
  check: async (fields) => {
    const settings = Object.fromEntries(
      Object.entries(fields).filter(([field]) => field !== 'name' && !timing.some((each) => each === field)),
    )
    const parsed = parseJobSettings(settings)
    return parsed.ok ? [] : parsed.problems
  },
  create: async (client, name, fields) => {
    const { name: _, ...body } = fields
    // A worker may have declared the job already.
    if (await isKnown(client, name)) await client.jobs.update({ params: { name }, body })
    else await client.jobs.create({ body: { ...body, name } })
    return null
  },
  update: async (client, name, changes) => {
    await client.jobs.update({ params: { name }, body: changes })
    return null
  },
  /** Removes the overrides; the settings of the code remain. */
  delete: async (client, name) => {
    const { overrides } = await client.jobs.get({ params: { name } })
    const nothing = Object.fromEntries(Object.keys(overrides).map((field) => [field, null]))
    await client.jobs.update({ params: { name }, body: { ...nothing, cron: null } })
  },
  toFile: (fields) => fields,
}

function toExisting(job: Awaited<ReturnType<HoldfastClient['jobs']['get']>>): Existing | null {
  const { name, overrides, cron } = job
  if (cron === null && Object.keys(overrides).length === 0) return null
  const scheduled = Object.fromEntries(
    timing
      .filter(
        (field) => field === 'cron' || JSON.stringify(job[field]) !== JSON.stringify(usualTiming[field]),
      )
      .map((field) => [field, job[field]]),
  )
  return { name, fields: { name, ...overrides, ...(cron !== null && scheduled) } }
}

async function isKnown(client: HoldfastClient, name: string): Promise<boolean> {
  try {
    await client.jobs.get({ params: { name } })
    return true
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'job_not_found') return false
    throw error
  }
}
