import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { migrate } from '../../src/postgres/migrate.ts'
import { until } from '../support/engine/until.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { Stage } from '../support/processes/stage.ts'

/** No checkpoint comes in between: what the standby knows of the schema is in its memory alone when it is promoted. */
test('a standby that is promoted soon after the schema was created takes messages and runs, and delivers them', async () => {
  await using primary = await DatabaseProcess.start(tmpdir(), {
    isMigrated: false,
    settings: { wal_keep_size: '1GB' },
  })
  await using standby = await primary.startStandby()
  await until('the standby to stream', () =>
    primary
      .count(`select from pg_stat_replication where state = 'streaming'`)
      .then((streaming) => streaming === 1),
  )
  await migrate(primary.url)
  await until('the standby to have it all', async () => {
    const [written] = await primary.rows<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn')
    return (await standby.count(`select where pg_last_wal_replay_lsn() >= '${written?.lsn}'`)) === 1
  })
  await primary.crash()
  await standby.promote()
  await using stage = await Stage.open(standby.url)
  await stage.endpoint('hook')
  await stage.startNodes(['a'])
  await stage.receiver.whenAccepted(await stage.publish('hook', 3), 20_000)
  await standby.rows(`select holdfast.declare_job('report', '{}')`)
  const [run] = await standby.rows<{ id: string }>(`select holdfast.enqueue('report', '{}') as id`)
  expect(run?.id).toMatch(/^run_/)
  await stage.settled()
})
