import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolder } from './make-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-make-folder-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('makes the folders above it too, all with its mode, and says whether it was missing', async () => {
  expect(await makeFolder(join(folder, 'a/b/c'), 0o700)).toBe(true)
  expect(await makeFolder(join(folder, 'a/b/c'), 0o700)).toBe(false)
  for (const path of ['a', 'a/b', 'a/b/c']) {
    expect((await stat(join(folder, path))).mode & 0o777).toBe(0o700)
  }
})

test('several at once make one folder', async () => {
  const made = await Promise.all([1, 2, 3].map(() => makeFolder(join(folder, 'a/b/c'), 0o700)))
  expect(made.filter(Boolean)).toHaveLength(1)
})

test.each([
  ['file', 'EEXIST'],
  ['file/a', 'ENOTDIR'],
])('a path that can not be a folder fails at once: %s', async (path, code) => {
  await writeFile(join(folder, 'file'), '')
  await expect(makeFolder(join(folder, path), 0o700)).rejects.toMatchObject({ code })
})
