import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CliProcess } from '../cli/cli-process.ts'
import { AnswerGate } from '../support/api/answer-gate.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const adminKey = 'hf_an-admin-key-of-these-tests-alone'
let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(() => database.drop())

async function serve(): Promise<{ process: CliProcess; url: string }> {
  const environment = { HOLDFAST_DATABASE_URL: database.url, HOLDFAST_ADMIN_KEY: adminKey }
  const process = new CliProcess(['serve'], { cwd: tmpdir(), environment })
  const [, url = ''] = await process.waitFor('stderr', /"api":"([^"]+)"/)
  return { process, url }
}

function createReplay(url: string): Promise<Response> {
  return fetch(`${url}/v1/replays`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'the same over both tries',
    },
    body: '{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}',
  })
}

test('a server that is killed between the effect of a write and its answer leaves neither; the next one does it once', async () => {
  const gate = await AnswerGate.install(database.pool)
  const killed = await serve()
  await using _killed = killed.process
  await gate.close()
  const lost = createReplay(killed.url).then(
    () => 'answered',
    () => 'lost',
  )
  await gate.waiting()
  killed.process.kill('SIGKILL')
  expect(await lost).toBe('lost')
  await gate.open()

  const next = await serve()
  await using _next = next.process
  const first = await createReplay(next.url)
  const again = await createReplay(next.url)
  expect([first.status, again.status]).toEqual([202, 202])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(await again.json()).toEqual(await first.json())
  const { rows } = await database.pool.query('select kind from holdfast_internal.operations')
  expect(rows).toEqual([{ kind: 'replay' }])
})
