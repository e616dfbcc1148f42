import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'

let rig: Rig
let holdfast: Holdfast

beforeAll(async () => {
  rig = await Rig.create()
  holdfast = rig.client()
})
afterAll(() => rig.stop())

async function createWithRejects(name: string, rejects: number): Promise<void> {
  await rig.rows(
    `with source as (insert into holdfast_internal.event_sources (name, type, config) values ($1, 'amqp', '{}') returning id)
     select from source`,
    [name],
  )
  await rig.rows(
    `insert into holdfast_internal.source_rejects (source_id, code, error, fields, body)
     select id, 'payload_invalid_json', 'e', '{}', 'x' from holdfast_internal.event_sources, generate_series(1, $2) where name = $1`,
    [name, rejects],
  )
}

test('a source that is deleted by force loses its rejects in steps of ten thousand at most, and no others', async () => {
  await createWithRejects('kept', 3)
  await createWithRejects('shop', 25_000)
  await rig.rows('create table step_sizes (rows integer)')
  await rig.rows(
    `create function note_step() returns trigger language plpgsql as
     'begin insert into public.step_sizes select count(*) from gone; return null; end'`,
  )
  await rig.rows(
    `create trigger note_step after delete on holdfast_internal.source_rejects
     referencing old table as gone for each statement execute function note_step()`,
  )
  await expect(holdfast.sources.delete('shop')).rejects.toMatchObject({
    code: 'still_owed',
    details: { source: 'shop', rejects: 10_000 },
  })
  expect(await holdfast.sources.delete('shop', { force: true })).toEqual({ rejects: 25_000 })
  expect((await rig.rows('select rows from step_sizes')).map(({ rows }) => rows)).toEqual([
    10_000, 10_000, 5000,
  ])
  await expect(holdfast.sources.get('shop')).rejects.toMatchObject({ code: 'source_not_found' })
  expect(await rig.count('source_rejects')).toBe(3)
  expect(
    await rig.rows(
      `select detail ->> 'rejects' as rejects from holdfast_internal.audit_log where action = 'source.deleted'`,
    ),
  ).toEqual([{ rejects: '25000' }])
})

test('a node of the previous version deletes all of it in one call', async () => {
  await createWithRejects('old', 12_000)
  const deleteOld = (isForced: boolean) =>
    rig.rows(`select * from holdfast_internal.delete_source('old', $1, 'ada')`, [isForced])
  expect(await deleteOld(false)).toEqual([{ rejects: 10_000, is_deleted: false }])
  expect(await deleteOld(true)).toEqual([{ rejects: 12_000, is_deleted: true }])
  expect(await deleteOld(true)).toEqual([])
})
