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
