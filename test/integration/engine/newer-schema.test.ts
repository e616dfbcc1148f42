import { afterEach, beforeEach, expect, it } from 'vitest'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'

let rig: Rig
beforeEach(async () => {
  rig = await Rig.create()
})
afterEach(() => rig.stop())

/** What a later version may do: columns are added, functions get further parameters or further kinds. */
const laterVersion = [
  `alter table holdfast_internal.deliveries add column later_note text default 'x'`,
  `alter table holdfast_internal.messages add column later_note text default 'x'`,
  `alter table holdfast_internal.messages_kept add column later_note text default 'x'`,
  `alter table holdfast_internal.attempts add column later_note jsonb not null default '{}'`,
  `alter table holdfast_internal.endpoints add column later_note text`,
  `alter table holdfast_internal.breakers add column later_note integer not null default 7`,
  `alter table holdfast_internal.nodes add column later_note text`,
  `create function holdfast_internal.beat(me integer, owed bigint, more jsonb) returns boolean language sql as 'select true'`,
  `create function holdfast_internal.settle_failures(me integer, batch bigint, records jsonb, runs jsonb, more jsonb) returns boolean language sql as 'select true'`,
  `create function holdfast_internal.accept_lines(endpoint_name text, lines text, message_options jsonb[], more jsonb) returns text language sql as 'select null::text'`,
]

it('a node of this version keeps running while a later schema is installed, and starts on it', async () => {
  const handled: unknown[] = []
  const older = await rig.start()
  const name = await functionEndpoint(
    older.holdfast,
    ({ payload, attempt }) => {
      if (payload === 'fails once' && attempt === 1) throw new Error('not yet')
      handled.push(payload)
    },
    { retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } },
  )
  await older.holdfast.send(name, 'before')
  await rig.whenSettled(name)
  // One by one: a transaction that locks several tables and a node that uses them can wait for each other.
  for (const change of laterVersion) await rig.rows(change)
  await older.holdfast.sendBatch(name, [{ payload: 'after' }, { payload: 'fails once', type: 'order.paid' }])
  await rig.whenSettled(name)
  await older.holdfast.stop()

  const restarted = await rig.start()
  restarted.holdfast.handle(name, ({ payload }) => {
    handled.push(payload)
  })
  await restarted.holdfast.send(name, 'started on it')
  await rig.whenSettled(name)
  expect(handled).toEqual(['before', 'after', 'fails once', 'started on it'])
  expect(await rig.count('attempts')).toBe(5)
  expect([...older.complaints, ...restarted.complaints]).toEqual([])
})
