import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Notices } from '../../src/engine/notices.ts'
import { createPool } from '../../src/postgres/pool.ts'
import { Holdfast } from '../../src/sdk/holdfast.ts'
import { Database } from '../../src/storage/database.ts'
import { until } from '../support/engine/until.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'

/** Below everything that a node has read; a crash gives such numbers out again when they never reached the disk. */
const reusedXid = '3'

interface Crash {
  readonly what: string
  readonly happen: (database: DatabaseProcess, backendPid: number) => Promise<void>
}

const crashes: Crash[] = [
  {
    what: 'PostgreSQL was killed and started again',
    happen: async (database) => {
      await database.crash()
      await database.restart()
    },
  },
  {
    what: 'the postmaster outlived the death of a backend',
    happen: async (_, backendPid) => {
      process.kill(backendPid, 'SIGKILL')
    },
  },
]

describe.each(crashes)(
  'a change under a transaction id that is given out again, after $what',
  ({ happen }) => {
    let database: DatabaseProcess
    let proxy: CuttingProxy
    let holdfast: Holdfast
    let pool: ReturnType<typeof createPool>
    let notices: Notices
    const handled: string[] = []

    const succeeds = async (work: () => Promise<unknown>) =>
      work().then(
        () => true,
        () => false,
      )

    /** As a transaction of that number writes it, and as a node hears it whose notification got lost. */
    async function changeUnheard(text: string, values: readonly unknown[]): Promise<void> {
      const client = await pool.connect()
      try {
        await client.query('set session_replication_role = replica')
        const { rowCount } = await client.query(text, [...values])
        expect(rowCount).toBe(1)
      } finally {
        client.release(true)
      }
    }

    beforeAll(async () => {
      database = await DatabaseProcess.start()
      pool = createPool({
        connectionString: database.url,
        max: 4,
        applicationName: 'test',
        connectTimeoutMs: 5000,
      })
      notices = new Notices(new Database({ pool, preparesStatements: true, deadlineMs: 5000 }))
      await notices.open()
      proxy = await CuttingProxy.start(database.url)
      holdfast = new Holdfast({ databaseUrl: proxy.url, limits: { beatMs: 100 } })
      await holdfast.start()
      for (const name of ['open', 'paused']) {
        holdfast.handle(
          name,
          (message) => void handled.push(`${name} ${(message.payload as { shape: string }).shape}`),
        )
        await holdfast.endpoints.create({ name, transport: 'function' })
        await holdfast.routes.create({
          name,
          eventType: name,
          endpoint: name,
          transform: { type: 'template', template: { shape: 'old' } },
        })
      }
      await holdfast.endpoints.pause('paused')
      const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
      const beats = async () =>
        (await pool.query('select max(beat)::int as beat from holdfast_internal.nodes')).rows[0].beat
      // Whatever has been changed until now is read, and its watermark above all of it.
      const before = await beats()
      await until('some beats', async () => (await beats()) > before + 5)
      await holdfast.publish('paused', {})
      await holdfast.publish('open', {})
      await until('the old shape to be known', () => handled.includes('open old'))
      expect(handled).toEqual(['open old'])
      // The node must not look between the crash and the changes: after that look, numbers are given out above what it has read.
      proxy.swallow()
      await happen(database, rows[0]?.pid ?? 0)
      await until('the server', () => succeeds(() => pool.query('select 1')))
      await changeUnheard(
        `update holdfast_internal.endpoints set state = 'active', changed_xid = $1 where name = 'paused'`,
        [reusedXid],
      )
      await changeUnheard(
        `update holdfast_internal.routes set transform = $2, changed_xid = $1 where name = 'open'`,
        [reusedXid, { type: 'template', template: { shape: 'new' } }],
      )
      await changeUnheard(
        `insert into holdfast_internal.notices (channel, payload, changed_xid) values ('holdfast_lanes', '7 free k', $1)`,
        [reusedXid],
      )
      proxy.carry()
    })

    afterAll(async () => {
      await holdfast.stop()
      await proxy.stop()
      await pool.end()
      await database[Symbol.asyncDispose]()
    })

    test('a node applies a changed endpoint without a restart', async () => {
      await until('the delivery', () => handled.includes('paused old'))
    })

    test('a node applies a changed route without a restart', async () => {
      await until('an event in its new shape', async () => {
        await succeeds(() => holdfast.publish('open', {}))
        return handled.includes('open new')
      })
    })

    test('a node receives a change that is only notified, once', async () => {
      const heard = async () => (await notices.read()).filter(({ payload }) => payload === '7 free k')
      expect(await heard()).toHaveLength(1)
      expect(await heard()).toHaveLength(0)
    })
  },
)
