import { expect, test } from 'vitest'
import { silentLogger } from '../engine/logger.ts'
import { JobTable } from './job-table.ts'

const row = {
  id: 7,
  name: 'mail',
  defaults: {},
  overrides: {},
  state: 'active',
  state_reason: null,
  reenable_at: null,
} as const

test('a refresh reads the jobs that are loaded, and asks for nothing while there are none', async () => {
  const asked: (readonly number[])[] = []
  const readJobs = async (ids: readonly number[]) => {
    asked.push(ids)
    return ids.includes(7) ? [row] : []
  }
  const table = new JobTable({ readJobs }, silentLogger)
  await table.refresh()
  await table.load([7])
  await table.refresh()
  expect(asked).toEqual([[7], [7]])
})
