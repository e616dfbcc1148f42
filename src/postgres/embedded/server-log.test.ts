import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { boundLog, readLogTail } from './server-log.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-log-'))
  path = join(folder, 'postgres.log')
})

afterEach(() => rm(folder, { recursive: true }))

test('the tail holds the last lines that were written after the start', async () => {
  await writeFile(path, 'old\none\ntwo\nthree\n')
  expect(await readLogTail(path, 4, 2)).toBe('two\nthree')
  expect(await readLogTail(path, 4, 10)).toBe('one\ntwo\nthree')
  expect(await readLogTail(join(folder, 'missing'), 0, 10)).toBe('')
})

test('a log beyond its limit is renamed, and a new one is started', async () => {
  const beyondBytes = 8 * 1024 * 1024 + 1
  await writeFile(path, Buffer.alloc(beyondBytes))
  await boundLog(path)
  expect((await stat(path)).size).toBe(0)
  expect((await stat(`${path}.1`)).size).toBe(beyondBytes)

  await writeFile(path, 'short')
  await boundLog(path)
  expect((await stat(path)).size).toBe(5)
})
