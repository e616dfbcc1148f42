import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadJobs } from './load-jobs.ts'

test('a module that does not exist, or is a folder, is named by its path alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-load-jobs-'))
  for (const file of ['nosuch.js', '.']) {
    await expect(loadJobs([file], folder)).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: `There is no file ${join(folder, file).replace(/\/\.?$/, '')}. Check the path after --import.`,
    })
  }
  await rm(folder, { recursive: true })
})
