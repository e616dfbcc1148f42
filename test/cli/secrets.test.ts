import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Holdfast } from '../../src/sdk/holdfast.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runCli } from './cli-process.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

function run(args: readonly string[], encryptionKey: string) {
  const environment = { HOLDFAST_DATABASE_URL: database.url, HOLDFAST_ENCRYPTION_KEY: encryptionKey }
  return runCli(args, { cwd: tmpdir(), environment })
}

async function createEndpoint(encryptionKey: string | null): Promise<void> {
  const holdfast = new Holdfast({ databaseUrl: database.url, encryptionKey })
  try {
    await holdfast.endpoints.create({ name: 'crm', config: { url: 'https://crm.example/hooks' } })
  } finally {
    await holdfast.stop()
  }
}

test('a key is made, used, replaced and missed', async () => {
  const [oldKey, newKey] = await Promise.all(
    [1, 2].map(async () => (await run(['secrets', 'new-key'], '')).stdout.trim()),
  )
  if (oldKey === undefined || newKey === undefined) throw new Error('no keys')
  await expect(createEndpoint(null)).rejects.toThrow('secrets new-key')
  await createEndpoint(oldKey)

  const blind = await run(['doctor', '--json'], newKey)
  const secretsFinding = (stdout: string) =>
    (JSON.parse(stdout).findings as { check: string; verdict: string }[]).find(
      ({ check }) => check === 'secrets',
    )
  expect(secretsFinding(blind.stdout)).toMatchObject({
    verdict: 'fail',
    message: expect.stringContaining('lacks keys'),
  })
  expect(secretsFinding((await run(['doctor', '--json'], `${newKey},${oldKey}`)).stdout)).toMatchObject({
    verdict: 'warn',
    advice: expect.stringContaining('secrets reencrypt'),
  })

  const stuck = await run(['secrets', 'reencrypt'], newKey)
  expect([stuck.exitCode, stuck.stdout.includes('crm: signing.secret needs key')]).toEqual([1, true])
  const done = await run(['secrets', 'reencrypt'], `${newKey}\n${oldKey}`)
  expect([done.exitCode, done.stdout.includes('Older keys can be removed')]).toEqual([0, true])
  expect(secretsFinding((await run(['doctor', '--json'], newKey)).stdout)).toMatchObject({ verdict: 'ok' })

  for (const { stdout, stderr } of [blind, stuck, done]) {
    expect(stdout + stderr).not.toContain(oldKey)
    expect(stdout + stderr).not.toContain(newKey)
  }
})
