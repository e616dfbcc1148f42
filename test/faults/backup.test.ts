import { describe, expect, test } from 'vitest'
import { ArchivedDatabase, backupsSkipped } from '../support/processes/archived-database.ts'
import { Stage } from '../support/processes/stage.ts'

/** What must hold on a restored database before anybody uses it. */
async function expectNothingOfTheFuture(stage: Stage): Promise<void> {
  const { rows } = await stage.pool.query(
    `select (select count(*)::int from holdfast_internal.messages where created_at > now()) as messages,
            (select count(*)::int from holdfast_internal.attempts where started_at > now()) as attempts`,
  )
  expect(rows[0]).toEqual({ messages: 0, attempts: 0 })
}

/** Delivers what the backup owes, and shows that ids which were assigned after it are not assigned again. */
async function expectToGoOn(stage: Stage, original: Stage, owed: readonly string[], lost: readonly string[]) {
  await expectNothingOfTheFuture(stage)
  // The first use of the restored database: nobody has moved its ids forward yet.
  const later = await stage.publish('hook', 10)
  expect(later.filter((id) => lost.includes(id) || owed.includes(id))).toEqual([])
  for (const id of later)
    expect(
      [...lost, ...owed].every((earlier) => earlier < id),
      id,
    ).toBe(true)
  await stage.startNodes(['restored'])
  await original.receiver.whenAccepted([...owed, ...later], 30_000)
  await stage.settled()
}

describe.skipIf(backupsSkipped !== null)(`a backup (${backupsSkipped ?? 'PostgreSQL 15'})`, () => {
  test('by pg_dump has everything that was owed and delivered; restored, it is delivered and no id repeats', async () => {
    await using database = await ArchivedDatabase.start()
    await using original = await Stage.open(database.server.url)
    await original.endpoint('hook')
    const [node] = await original.startNodes(['original'])
    await original.receiver.whenAccepted(await original.publish('hook', 10), 20_000)
    await original.settled()
    node?.terminate()
    await node?.exited
    const owed = await original.publish('hook', 20)
    await database.dumpTo('holdfast.dump')
    const lost = await original.publish('hook', 5)

    await using restored = await Stage.open(await database.restoreDump('holdfast.dump', 'restored'))
    expect(await restored.owed()).toBe(20)
    const { rows } = await restored.pool.query(
      `select count(*)::int as delivered from holdfast_internal.attempts`,
    )
    expect(rows).toEqual([{ delivered: 10 }])
    await expectToGoOn(restored, original, owed, lost)
  })

  test('by pg_basebackup and the archived log is restored to a moment: what was committed before is delivered, and no id repeats', async () => {
    await using database = await ArchivedDatabase.start()
    await using original = await Stage.open(database.server.url)
    await original.endpoint('hook')
    await database.baseBackup()
    const owed = await original.publish('hook', 20)
    const [moment] = await database.server.query<{ at: string }>('select clock_timestamp()::text as at')
    const lost = await original.publish('hook', 5)
    await database.archiveAll()

    const server = await database.restoreTo(moment?.at ?? '')
    await using restored = await Stage.open(server.url)
    expect(await restored.owed()).toBe(20)
    await expectToGoOn(restored, original, owed, lost)
  })
})
