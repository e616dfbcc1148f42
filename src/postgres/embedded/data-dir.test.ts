import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureDataDir } from './data-dir.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-data-dir-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test.each(['.holdfast', 'data'])('a new data dir %s tells git to leave it out', async (name) => {
  await ensureDataDir(join(folder, name))
  await ensureDataDir(join(folder, name))
  expect(await readFile(join(folder, name, '.gitignore'), 'utf8')).toBe('*\n')
})

test('one that an older version made is left out from now on', async () => {
  await mkdir(join(folder, '.holdfast'))
  await ensureDataDir(join(folder, '.holdfast'))
  expect(await readdir(join(folder, '.holdfast'))).toEqual(['.gitignore'])
})

test('a foreign folder, and a foreign file, stay unchanged', async () => {
  await ensureDataDir(folder)
  expect(await readdir(folder)).toEqual([])
  await mkdir(join(folder, '.holdfast'))
  await writeFile(join(folder, '.holdfast', '.gitignore'), '!kept\n')
  await ensureDataDir(join(folder, '.holdfast'))
  expect(await readFile(join(folder, '.holdfast', '.gitignore'), 'utf8')).toBe('!kept\n')
})

test('a path that can not be a folder is refused with the reason', async () => {
  await writeFile(join(folder, 'file'), '')
  for (const [path, reason] of [
    ['file', 'there is a file with this name'],
    ['file/data', 'a part of its path is a file'],
  ] as const) {
    await expect(ensureDataDir(join(folder, path))).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: `The data folder ${join(folder, path)} can't be used: ${reason}. Choose another one with HOLDFAST_DATA_DIR.`,
    })
  }
})

// Only Linux has it, and only there Node.js repeats itself forever.
test.runIf(existsSync('/proc/self'))('a path below /proc is refused at once', async () => {
  await expect(ensureDataDir('/proc/holdfast/data')).rejects.toMatchObject({
    code: 'configuration_invalid',
    message:
      "The data folder /proc/holdfast/data can't be used: folders can not be made there. Choose another one with HOLDFAST_DATA_DIR.",
  })
})
