import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runCli } from './cli-process.ts'

const folder = fileURLToPath(new URL('../../examples/', import.meta.url))
const root = fileURLToPath(new URL('../../', import.meta.url))

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase({ isMigrated: false })
})

afterAll(async () => {
  await database.drop()
})

/** What each example prints, line by line; `…` stands for what differs from run to run. */
const expectedOutput: Readonly<Record<string, string>> = {
  'function-endpoint.mjs': 'mailed ada@example.com on attempt 2\ndead letters: 1\n',
  'http-endpoint.mjs': 'accepted as msg_…\nreceived {"order":17} on attempt 2\n',
  'transactional-outbox.mjs':
    'order 1 was rolled back: order 1 is worth nothing\norder 2 was stored\nreceived {"order":2,"total":99}\n',
  'learning/run.mjs': `1000 events published from the log
the reliable store has 1000 statements, the one that is down 0
back again, it has 990 statements and refused 10
valid statements that are missing: 0
`,
}

test('every example has its expected output here', () => {
  const own = readdirSync(folder).filter((file) => file.endsWith('.mjs'))
  expect([...own, 'learning/run.mjs']).toEqual(Object.keys(expectedOutput))
})

test.each(Object.entries(expectedOutput))('%s runs and prints what it promises', async (file, expected) => {
  const result = await runCli([], {
    command: [process.execPath, `${folder}${file}`],
    cwd: root,
    environment: { HOLDFAST_DATABASE_URL: database.url },
  })
  const stdout = result.stdout.replace(/msg_\w{11}/g, 'msg_…')
  expect({ ...result, stdout }).toEqual({ exitCode: 0, stdout: expected, stderr: '' })
})
