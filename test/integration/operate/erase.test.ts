import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { createWorker } from '../../../src/sdk/create-worker.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let canaries = 0
const newCanary = () => `canary${(canaries += 1)}xq7z`

describe('erasing a message', () => {
  let rig: Rig
  let node: RunningNode
  /** Answers with what it was sent, and refuses or fails what says so. */
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const status = body.includes('refuse') ? 422 : body.includes('fail') ? 500 : 200
      response.writeHead(status).end(`you said ${body}`)
    })
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    rig = await Rig.create()
    node = await rig.start({ encryptionKey: null })
    await node.holdfast.endpoints.create({
      name: 'echo',
      config: {
        url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
        signing: { scheme: 'none' },
        capture: 'all',
      },
      retry: { maxRetries: 0 },
    })
  })
  afterAll(async () => {
    await rig.stop()
    receiver.close()
  })

  /** Every table and every column, as text; bytes as hexadecimal digits. */
  async function placesOf(canary: string): Promise<string[]> {
    const tables = await rig.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('holdfast', 'holdfast_internal') order by 1`,
    )
    const hex = Buffer.from(canary).toString('hex')
    const places: string[] = []
    for (const { name } of tables) {
      const found = await rig.value(
        `select exists (select from ${name} as line where line::text like $1 or line::text like $2)`,
        [`%${canary}%`, `%${hex}%`],
      )
      if (found === true) places.push(name)
    }
    return places
  }

  const erase = (id: string, force: boolean | null = false) =>
    rig.value('select holdfast.erase_message($1, $2, $3)', [id, 'asked to be forgotten', force])

  it('leaves nothing of it in any table, whatever its outcome', async () => {
    const canary = newCanary()
    const options = {
      headers: { 'x-name': canary },
      metadata: { name: canary },
      orderingKey: `key-${canary}`,
    }
    const delivered = await node.holdfast.send('echo', { say: canary }, options)
    const refused = await node.holdfast.send('echo', { say: `refuse ${canary}` }, options)
    await until('both to end', () => rig.value('select count(*) = 0 from holdfast_internal.deliveries'))
    // Kept beyond its partition, and in an answer that is kept for a repetition.
    await rig.rows(
      `insert into holdfast_internal.messages_kept select * from holdfast_internal.messages where id = holdfast.parse_id('msg', $1)`,
      [refused.id],
    )
    await rig.rows(
      `insert into holdfast_internal.api_results values ('me', 'k', '', 200, $1, now() + interval '1 hour'), ('me', 'other', '', 200, '{"payload":1}', now() + interval '1 hour')`,
      [JSON.stringify({ id: refused.id, payload: canary })],
    )
    await rig.rows(
      `insert into holdfast_internal.quarantine (delivery_id, lane_id, incarnation, record, error) values (holdfast.parse_id('msg', $1), 1, 1, $2, 'x')`,
      [refused.id, JSON.stringify({ detail: canary })],
    )
    const before = await placesOf(canary)
    expect(before.map((name) => name.replace(/_\d{4}_\d{2}$/, ''))).toEqual(
      expect.arrayContaining(
        ['api_results', 'attempts', 'dead_letters', 'messages', 'messages_kept', 'quarantine'].map(
          (name) => `holdfast_internal.${name}`,
        ),
      ),
    )

    expect(await erase(delivered.id)).toEqual({ id: delivered.id, cancelled: 0, deadLetters: 0 })
    expect(await erase(refused.id)).toEqual({ id: refused.id, cancelled: 0, deadLetters: 1 })
    expect(await placesOf(canary)).toEqual([])
    expect(await rig.value(`select body from holdfast_internal.api_results where key = 'other'`)).toBe(
      '{"payload":1}',
    )

    const event = await node.holdfast.events.get(refused.id)
    expect(event).toMatchObject({ payload: null, headers: {}, metadata: {}, erasedAt: expect.any(Date) })
    const [letter] = (await node.holdfast.deadLetters.list({ messageId: refused.id })).data
    expect(letter).toMatchObject({ state: 'erased', error: '[erased]' })
    await expect(node.holdfast.deadLetters.redrive(letter!.id)).rejects.toMatchObject({
      code: 'dead_letter_settled',
    })
    await expect(node.holdfast.replays.one(refused.id, { targetEndpoint: 'echo' })).rejects.toMatchObject({
      code: 'event_erased',
    })
    const [entry] = await node.holdfast.audit.list({ action: 'event.erased' })
    expect(entry).toMatchObject({
      subject: refused.id,
      detail: { reason: 'asked to be forgotten', deadLetters: 1 },
    })
  })

  it('leaves nothing of it in what the other messages of its batches stored', async () => {
    const [canary, other] = [newCanary(), newCanary()]
    await node.holdfast.endpoints.create({
      name: 'batches',
      config: {
        url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
        signing: { scheme: 'none' },
      },
      retry: { maxRetries: 1, baseDelayMs: 100, jitter: 'none' },
      batch: { maxMessages: 10, maxWaitMs: 50 },
    })
    await rig.pause(node, 'batches')
    const payloads = [1, 2, 3].map((number) => ({ fail: `${other} ${number}` }))
    const others = await Promise.all(payloads.map((payload) => node.holdfast.send('batches', payload)))
    const sent = await node.holdfast.send('batches', { fail: canary })
    await node.holdfast.endpoints.resume('batches')
    await until('all to be dead', async () => {
      const { data } = await node.holdfast.deadLetters.list({ endpoint: 'batches', state: 'open' })
      return data.length === 4
    })
    // Another request of one of them, without the message.
    const [letter] = (await node.holdfast.deadLetters.list({ messageId: others[0]!.id })).data
    await node.holdfast.deadLetters.redrive(letter!.id)
    await until('the redrive to fail', async () => {
      const { redrives, state } = await node.holdfast.deadLetters.get(letter!.id)
      return redrives === 1 && state === 'open'
    })
    expect((await node.holdfast.deliveries.get(sent.deliveryId)).attempts).toMatchObject(
      Array.from({ length: 2 }, () => ({ detail: { request: { body: expect.stringContaining(other) } } })),
    )

    expect(await erase(sent.id)).toMatchObject({ deadLetters: 1 })
    expect(await placesOf(canary)).toEqual([])
    const [, second] = (await node.holdfast.events.get(others[1]!.id)).deliveries[0]!.attempts!
    expect(second).toMatchObject({ statusCode: 500, error: expect.stringContaining('500'), detail: null })
    const kept = await node.holdfast.deadLetters.get(letter!.id)
    expect(kept).toMatchObject({ state: 'open', request: { body: expect.stringContaining(other) } })
    expect(await rig.value('select holdfast_internal.erase_late(100)')).toBe(0)
  })

  it('is no part of a replay', async () => {
    const canary = newCanary()
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload))
    const sent = await node.holdfast.send(name, canary)
    const other = await node.holdfast.send(name, 'other')
    await until('both to arrive', () => taken.length === 2)
    await until('both to be settled', () =>
      rig.value('select count(*) = 0 from holdfast_internal.deliveries'),
    )
    await erase(sent.id)
    const from = new Date(Date.now() - 60_000).toISOString()
    const to = new Date(Date.now() + 60_000).toISOString()
    const operation = await rig.value<string>('select holdfast.replay_range($1, $2, $3)', [name, from, to])
    await until('the replay to end', async () => {
      const { state } = await node.holdfast.operations.get(operation)
      return state === 'succeeded'
    })
    await until('the other to arrive again', () => taken.length === 3)
    expect(taken[2]).toBe('other')
    expect(other.id).not.toBe(sent.id)
  })

  it('is refused while it is owed, and by force cancels what is owed', async () => {
    const canary = newCanary()
    const name = await functionEndpoint(node.holdfast, () => {})
    await rig.pause(node, name)
    const sent = await node.holdfast.send(name, canary)
    await expect(erase(sent.id)).rejects.toMatchObject({ code: 'HF006' })
    await expect(erase(sent.id, null)).rejects.toMatchObject({ code: 'HF006' })
    await expect(node.holdfast.events.erase(sent.id, { reason: 'x' })).rejects.toMatchObject({
      code: 'still_owed',
    })
    expect(await placesOf(canary)).not.toEqual([])
    expect(await erase(sent.id, true)).toMatchObject({ cancelled: 1 })
    expect(await placesOf(canary)).toEqual([])
    const { deliveries } = await node.holdfast.events.get(sent.id)
    expect(deliveries).toMatchObject([{ state: 'cancelled' }])
    await node.holdfast.endpoints.resume(name)
  })

  it('removes data that an attempt in flight writes afterwards', async () => {
    const canary = newCanary()
    let refuse: () => void = () => {}
    const name = await functionEndpoint(
      node.holdfast,
      ({ payload }) =>
        new Promise((_, reject) => {
          refuse = () => reject(new PermanentError(`can't take ${JSON.stringify(payload)}`))
        }),
    )
    const sent = await node.holdfast.send(name, canary)
    await until('the attempt to be out', () => node.holdfast.node!.inFlight === 1)
    await erase(sent.id, true)
    refuse()
    await until('the result to be stored', () =>
      rig.value('select exists (select from holdfast_internal.attempts where error like $1)', [
        `%${canary}%`,
      ]),
    )
    await rig.rows('select holdfast_internal.erase_late(100)')
    expect(await placesOf(canary)).toEqual([])
    expect(await rig.value('select holdfast_internal.erase_late(100)')).toBe(0)
  })

  it('takes the input, the logs and the result of a run', async () => {
    const canary = newCanary()
    const job = defineJob({
      name: 'echo-job',
      run: async (input, { logger }) => {
        logger.info({ input }, 'got it')
        return input
      },
    })
    const run = await node.holdfast.enqueue(job, canary)
    await expect(erase(run.id)).rejects.toMatchObject({ code: 'HF006' })
    const worker = await createWorker({ databaseUrl: rig.database.url, jobs: [job], journalFolder: null })
    await until('the run to end', async () => (await node.holdfast.runs.get(run.id)).state === 'succeeded')
    await worker.stop()
    await erase(run.id)
    expect(await placesOf(canary)).toEqual([])
  })

  it('is refused without a reason, and where there is nothing to erase', async () => {
    const eraseFirst = (reason: string) =>
      rig.value(`select holdfast.erase_message(holdfast.format_id('msg', 1), $1)`, [reason])
    await expect(eraseFirst('why')).rejects.toMatchObject({ code: 'HF012' })
    await expect(eraseFirst('')).rejects.toMatchObject({ code: 'HF002' })
    await expect(node.holdfast.events.erase('msg_nonsense', { reason: 'why' })).rejects.toMatchObject({
      code: 'event_not_found',
    })
  })
})
