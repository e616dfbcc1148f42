import { expect, test } from 'vitest'
import { defineJob, JobWorker } from '../../../src/index.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { testSessionSupport } from '../../../src/postgres/self-test.ts'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { PgBouncer, type PoolMode, pgbouncerPath } from '../../support/pgbouncer.ts'
import { createTestDatabase } from '../../support/test-database.ts'

const skipsWithoutPgBouncer = pgbouncerPath === null
const modes: readonly { mode: PoolMode; listens: boolean }[] = [
  { mode: 'session', listens: true },
  { mode: 'transaction', listens: false },
]

test.skipIf(skipsWithoutPgBouncer).each(modes)(
  'behind a real PgBouncer in $mode mode a node delivers, a worker executes, the SDK publishes; notifications arrive: $listens',
  async ({ mode, listens }) => {
    const database = await createTestDatabase()
    await using bouncer = await PgBouncer.start(database.url, mode)
    expect(await testSessionSupport(bouncer.url)).toMatchObject({ listens, keepsSessions: listens })
    const drop = async () => {
      // Its connections to the server outlive its clients'.
      await bouncer[Symbol.asyncDispose]()
      await database.drop()
    }
    const rig = Rig.on({ ...database, url: bouncer.url, drop })
    const seen: unknown[] = []
    try {
      await rig.start({ handlers: { hook: ({ payload }) => void seen.push(payload) } })
      const publisher = rig.client()
      await publisher.endpoints.create({ name: 'hook', transport: 'function' })
      await publisher.routes.create({ name: 'all', eventType: '**', endpoint: 'hook' })
      await publisher.publish('order.placed', { by: 'publish' })
      await publisher.sendBatch(
        'hook',
        Array.from({ length: 50 }, (_, n) => ({ payload: { n } })),
      )
      const greet = defineJob({ name: 'greet', run: async () => 'hello' })
      const worker = new JobWorker({ databaseUrl: bouncer.url, jobs: [greet], journalFolder: null })
      await worker.start()
      try {
        const run = await publisher.enqueue(greet, {})
        expect(await run.result({ timeoutMs: 20_000 })).toBe('hello')
      } finally {
        await worker.stop()
      }
      await until('every message to arrive', async () => seen.length === 51)
    } finally {
      await rig.stop()
    }
  },
)

test.skipIf(skipsWithoutPgBouncer)('migrations run behind PgBouncer in transaction mode', async () => {
  const database = await createTestDatabase({ isMigrated: false })
  try {
    await using bouncer = await PgBouncer.start(database.url, 'transaction')
    expect((await migrate(bouncer.url)).applied.length).toBeGreaterThan(0)
  } finally {
    await database.drop()
  }
})

test.skipIf(skipsWithoutPgBouncer)('statement mode is refused with what to set instead', async () => {
  const database = await createTestDatabase()
  try {
    await using bouncer = await PgBouncer.start(database.url, 'statement')
    await expect(testSessionSupport(bouncer.url)).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('Set pool_mode = transaction or session in PgBouncer'),
    })
  } finally {
    await database.drop()
  }
})
