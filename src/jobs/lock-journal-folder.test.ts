import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockJournalFolder } from './lock-journal-folder.ts'

test('a journal folder that can not be made is refused with the reason, and what to set', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-journal-folder-'))
  await writeFile(join(folder, 'file'), '')
  await expect(lockJournalFolder(join(folder, 'file'))).rejects.toMatchObject({
    code: 'configuration_invalid',
    message:
      `The journal folder ${join(folder, 'file', '1')} can't be used: a part of its path is a file. ` +
      'Choose another one with --journal-dir (journalFolder of createWorker).',
  })
  await rm(folder, { recursive: true })
})
