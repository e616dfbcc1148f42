import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from './read-config.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-read-config-'))
})
afterAll(() => rm(folder, { recursive: true }))

test.each([
  ['empty', '', 'is empty; it must have at least one of the lists eventTypes, endpoints'],
  [
    'only a comment',
    '# nothing yet\n',
    'is empty; it must have at least one of the lists eventTypes, endpoints',
  ],
  ['nested too deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'is nested too deep'],
  [
    'in Latin-1',
    Buffer.from('eventTypes: [{name: a.b, description: café}]', 'latin1'),
    "can't be read: it is not UTF-8 text",
  ],
])('a file that is %s is refused', async (_name, content, problem) => {
  const path = join(folder, 'holdfast.yaml')
  await writeFile(path, content)
  await expect(readConfig(path, {})).rejects.toThrow(problem)
})

test('a list without items is a declaration that there are none', async () => {
  const path = join(folder, 'holdfast.yaml')
  await writeFile(path, 'routes:\n')
  expect((await readConfig(path, {})).kinds.map(({ list }) => list)).toEqual(['routes'])
})
