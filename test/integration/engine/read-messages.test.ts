import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseId } from '../../../src/core/delivery/ids.ts'
import { Database } from '../../../src/storage/database.ts'
import { readMessages } from '../../../src/storage/read-messages.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'

describe('bodies that are read together', () => {
  let rig: Rig
  let database: Database
  let ids: number[]
  const nasty = '{ "a":\t[1,\n2 ],"b" : "\\u0001!\\\\" }'

  beforeAll(async () => {
    rig = await Rig.create()
    database = new Database({ pool: rig.database.pool, preparesStatements: true, deadlineMs: 10_000 })
    const client = rig.client()
    const endpoint = await functionEndpoint(client, () => {})
    const sent = await client.sendBatch(endpoint, [
      { payload: 1 },
      { payload: '!' },
      { payload: { a: 'ü€😀' }, type: 'order.paid', headers: { 'x-a': 'b' }, correlationId: '\u00011' },
      { payload: null },
    ])
    // As somebody hands it in who writes his JSON by hand.
    const [byHand] = await rig.rows<{ id: number }>(
      'select id from holdfast_internal.accept_messages($1, array[$2]) as id',
      [endpoint, nasty],
    )
    ids = [...sent.map(({ id }) => parseId('msg', id) ?? 0), byHand?.id ?? 0]
  })
  afterAll(() => rig.stop())

  it('come byte for byte, each to its own message, with what else was said of it', async () => {
    const messages = await readMessages(database, ids.toReversed(), false)
    expect(ids.map((id) => messages.get(id)?.body)).toEqual(['1', '"!"', '{"a":"ü€😀"}', 'null', nasty])
    expect(messages.get(ids[2] ?? 0)?.rest).toEqual([
      'order.paid',
      '\u00011',
      { 'x-a': 'b' },
      false,
      null,
      null,
    ])
    expect(messages.get(ids[0] ?? 0)?.rest).toBeNull()
    const [stored] = await rig.rows<{ ms: number }>(
      `select date_part('epoch', created_at) * 1000 as ms from holdfast_internal.messages where id = $1`,
      [ids[4]],
    )
    expect(messages.get(ids[4] ?? 0)?.createdAtMs).toBe(stored?.ms)
  })

  it('come also from beside their partition, and a missing one spoils no other', async () => {
    const [first = 0, second = 0, third = 0] = ids
    await rig.rows(
      `with moved as (delete from holdfast_internal.messages where id = $1 returning *) insert into holdfast_internal.messages_kept select * from moved`,
      [second],
    )
    await rig.rows('delete from holdfast_internal.messages where id = $1', [third])
    const messages = await readMessages(database, ids, true)
    expect(ids.map((id) => messages.get(id)?.body)).toEqual(['1', '"!"', undefined, 'null', nasty])
    expect(messages.get(first)?.rest).toEqual([null, null, null, false, null, null])
  })
})
