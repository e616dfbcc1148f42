import { expect, test } from 'vitest'
import { migrate } from '../../src/postgres/migrate.ts'
import { NodeProcess } from '../support/processes/node-process.ts'
import { findPreviousCommit, PreviousBuild } from '../support/processes/previous-build.ts'
import { Stage } from '../support/processes/stage.ts'
import { createTestDatabase } from '../support/test-database.ts'

const commit = await findPreviousCommit()

test.skipIf(commit === null)(
  `while a node of the previous version runs, the schema is upgraded, a new node joins, both publish and deliver, and the way back works as documented (skipped in a clone without history)`,
  async () => {
    await using previous = await PreviousBuild.of(commit ?? '')
    const database = await createTestDatabase({ isMigrated: false })
    try {
      await previous.cli(['migrate'], database.url)
      await using stage = await Stage.open(database.url)
      await database.pool.query(`select holdfast.create_endpoint('hook', $1::jsonb, '{}')`, [
        { url: stage.receiver.urlOf('hook') },
      ])
      const old = NodeProcess.launch(
        { databaseUrl: database.url, name: 'old', sends: { endpoints: ['hook'], everyMs: 20 } },
        previous.folder,
      )
      stage.nodes.push(old)
      const first = await old.waitFor('sent')
      await stage.receiver.whenAccepted([first.id], 20_000)

      const { sources } = await migrate(database.url)
      expect(sources).not.toEqual([])
      const [fresh] = await stage.startNodes(['new'])
      await stage.balanced([old, fresh!])
      for (let n = 0; n < 8; n++) await stage.endpoint(`hook-${n}`)
      const byNew: string[] = []
      for (let n = 0; n < 8; n++) byNew.push(...(await stage.publish(`hook-${n}`, 10)))
      const owners = await Promise.all(Array.from({ length: 8 }, (_, n) => stage.ownerOf(`hook-${n}`)))
      expect(new Set(owners.map(({ name }) => name)), 'both versions deliver').toEqual(
        new Set(['old', 'new']),
      )
      await stage.receiver.whenAccepted(byNew, 30_000)

      // Back: the new node ends, and the old one goes on with the newer schema.
      fresh!.terminate()
      expect(await fresh!.exited).toMatchObject({ code: 0 })
      await stage.balanced([old])
      await stage.receiver.whenAccepted(await stage.publish('hook-0', 10), 30_000)
      // Started again, the old version works where no table was added, and otherwise refuses.
      const restarted = NodeProcess.launch({ databaseUrl: database.url, name: 'restarted' }, previous.folder)
      const answer = await restarted.waitFor('started').then(
        () => 'started',
        async () => `ended with ${(await restarted.exited).code}`,
      )
      expect(answer).toBe((await previous.hasAllTables()) ? 'started' : 'ended with 1')
      restarted.terminate()
      await restarted.exited
      // Forward again.
      const [forward] = await stage.startNodes(['forward'])
      await stage.balanced([old, forward!])

      old.terminate()
      expect(await old.exited).toMatchObject({ code: 0 })
      await stage.balanced([forward!])
      await stage.settled()
      const byOld = old.signals.flatMap((signal) => (signal.event === 'sent' ? [signal.id] : []))
      await stage.receiver.whenAccepted(byOld, 20_000)
      expect(old.logLines.filter((line) => line.event === 'log' && line.level === 'error')).toEqual([])
    } finally {
      await database.drop()
    }
  },
)
