import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { migrate } from '../../../src/postgres/migrate.ts'
import { defaultFunctionsDir, readSources } from '../../../src/postgres/sources/source-files.ts'
import { Rig } from '../../support/engine/rig.ts'

let rig: Rig
let newerDir: string

beforeEach(async () => {
  rig = await Rig.create()
  newerDir = await mkdtemp(join(tmpdir(), 'holdfast-newer-'))
  await cp(defaultFunctionsDir, newerDir, { recursive: true })
})
afterEach(async () => {
  await rig.stop()
  await rm(newerDir, { recursive: true })
})

async function edit(path: string, change: (sql: string) => string): Promise<void> {
  const before = await readFile(join(newerDir, path), 'utf8')
  const after = change(before)
  expect(after).not.toBe(before)
  await writeFile(join(newerDir, path), after)
}

/** What a later version may do to functions: other bodies, other signatures of what only functions call, new ones, and none of an old one. */
async function writeNewerFunctions(): Promise<void> {
  const { revision } = await readSources()
  await writeFile(join(newerDir, 'revision.json'), JSON.stringify({ revision: revision + 1 }))
  await edit('settle/settle_successes.sql', (sql) =>
    sql.replace('  return null;', `  perform set_config('holdfast.newer', 'yes', true);\n  return null;`),
  )
  await edit('publish/criticality_code.sql', (sql) =>
    sql.replace('(word text)', '(word text, fallback smallint default null)'),
  )
  await edit('jobs/next_transaction.sql', (sql) => sql.replaceAll('next_transaction', 'next_transaction_id'))
  for (const caller of ['claim_runs_v3', 'look_for_runs']) {
    await edit(`jobs/${caller}.sql`, (sql) => sql.replaceAll('next_transaction(', 'next_transaction_id('))
  }
  await cp(join(newerDir, 'jobs/next_transaction.sql'), join(newerDir, 'jobs/next_transaction_id.sql'))
  await rm(join(newerDir, 'jobs/next_transaction.sql'))
  await writeFile(
    join(newerDir, 'deliver/beat_v2.sql'),
    `create or replace function holdfast_internal.beat_v2(me integer) returns boolean language sql as 'select true'`,
  )
}

it('nodes with the old and the new functions deliver and run everything once, side by side', async () => {
  const arrived: string[] = []
  const older = await rig.start()
  const handle = (node: typeof older) =>
    node.holdfast.handle('hook', ({ payload, attempt }) => {
      if (attempt === 1 && Number(payload) % 10 === 0) throw new Error('not yet')
      arrived.push(String(payload))
    })
  handle(older)
  await older.holdfast.endpoints.create({
    name: 'hook',
    transport: 'function',
    retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' },
  })
  let published = 0
  const publish = async (until: number) => {
    while (published < until) {
      await older.holdfast.send('hook', published++, published % 3 === 0 ? { criticality: 'critical' } : {})
    }
  }

  await publish(100)
  await writeNewerFunctions()
  const [{ sources, applied }] = await Promise.all([
    migrate(rig.database.url, { functionsDir: newerDir }),
    publish(400),
  ])
  expect({ sources: [...sources].sort(), applied }).toEqual({
    sources: [
      'holdfast_internal.beat_v2',
      'holdfast_internal.claim_runs_v3',
      'holdfast_internal.criticality_code',
      'holdfast_internal.look_for_runs',
      'holdfast_internal.next_transaction_id',
      'holdfast_internal.settle_successes',
    ],
    applied: [],
  })

  // Its code is of the older version, too: what is newer than what it knows is left as it is, by its own migration as well.
  const restarted = await rig.start()
  handle(restarted)
  expect(await restarted.holdfast.migrate()).toEqual([])
  await publish(700)
  await rig.whenSettled('hook', 20_000)

  expect(arrived.map(Number).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 700 }, (_, number) => number),
  )
  expect(await rig.value(`select to_regproc('holdfast_internal.next_transaction')`)).toBeNull()
  expect([...older.complaints, ...restarted.complaints]).toEqual([])
})
