import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'
import { answer, hang } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: Rig
let holdfast: Holdfast
let receiver: HttpReceiver

beforeAll(async () => {
  rig = await Rig.create()
  holdfast = rig.client({ actor: 'ada' })
  receiver = await HttpReceiver.start()
})

afterAll(async () => {
  await receiver.stop()
  await rig.stop()
})

let lastName = 0

async function endpoint(config: object = {}, settings: object = {}) {
  lastName += 1
  const name = `tested-${lastName}`
  const created = await holdfast.endpoints.create({
    name,
    config: { url: receiver.url, ...config },
    ...settings,
  })
  receiver.ledger.clear()
  receiver.behave(answer(200))
  return { name, secret: created.signingSecret ?? '' }
}

describe('a test of an endpoint', () => {
  test('sends one signed event, and tells how it went', async () => {
    const { name, secret } = await endpoint()
    const result = await holdfast.endpoints.test(name)
    expect(result).toMatchObject({
      endpoint: name,
      ok: true,
      class: 'success',
      status: 200,
      finding: 'ok',
      error: null,
      response: { status: 200, body: '' },
    })
    expect(result.timings?.connectMs).toBeGreaterThanOrEqual(0)
    const [request] = receiver.ledger.requests
    expect(receiver.ledger.count).toBe(1)
    expect(request?.headers).toMatchObject({
      'holdfast-event-type': 'holdfast.test',
      'webhook-id': result.messageId,
    })
    const payload = new Webhook(secret).verify(request!.body, request!.headers as Record<string, string>)
    expect(payload).toMatchObject({ message: 'This is a test from Holdfast.' })
  })

  test('stores no message, delivery or attempt, leaves the circuit alone, and is in the audit log', async () => {
    const { name } = await endpoint({}, { circuit: { threshold: 1 } })
    receiver.behave(answer(500, { body: 'out of order' }))
    const result = await holdfast.endpoints.test(name)
    expect(result).toMatchObject({
      ok: false,
      finding: 'receiver_failed',
      response: { body: 'out of order' },
    })
    const tables = ['messages', 'deliveries', 'attempts', 'dead_letters']
    expect(await Promise.all(tables.map((table) => rig.count(table)))).toEqual([0, 0, 0, 0])
    expect((await holdfast.endpoints.health(name)).circuit).toMatchObject({ state: 'closed', failures: 0 })
    const [entry] = await rig.rows(
      `select actor, action, subject, detail from holdfast_internal.audit_log where action = 'endpoint.tested' order by id desc limit 1`,
    )
    expect(entry).toEqual({
      actor: 'ada',
      action: 'endpoint.tested',
      subject: `endpoint:${name}`,
      detail: { name, status: 500, finding: 'receiver_failed' },
    })
  })

  test('works while the endpoint is paused or disabled', async () => {
    const { name } = await endpoint()
    await holdfast.endpoints.pause(name)
    expect(await holdfast.endpoints.test(name)).toMatchObject({ ok: true })
    await holdfast.endpoints.disable(name)
    expect(await holdfast.endpoints.test(name)).toMatchObject({ ok: true })
    expect((await holdfast.endpoints.get(name)).state).toBe('disabled')
  })

  test('takes a payload of its own, and gives a receiver of batches an array', async () => {
    const { name } = await endpoint({}, { batch: { maxMessages: 10 } })
    await holdfast.endpoints.test(name, { payload: { n: 1 } })
    expect(receiver.ledger.requests[0]?.body).toBe('[{"n":1}]')
    await expect(holdfast.endpoints.test(name, { payload: 1n })).rejects.toMatchObject({
      code: 'invalid_payload',
    })
  })

  test('shows at most 4 KiB of the answer, and the answer though nothing is captured', async () => {
    const { name } = await endpoint({ capture: 'none' })
    receiver.behave(answer(404, { body: 'x'.repeat(10_000) }))
    const { response, request } = await holdfast.endpoints.test(name)
    expect(response?.body).toHaveLength(4096)
    expect(response?.isTruncated).toBe(true)
    expect(request).toBeNull()
  })

  test('ends when its caller gives up', async () => {
    const { name } = await endpoint()
    receiver.behave(hang())
    const controller = new AbortController()
    const running = holdfast.endpoints.test(name, { signal: controller.signal })
    await receiver.ledger.waitFor(1)
    controller.abort()
    expect(await running).toMatchObject({ ok: false, error: { code: 'aborted' } })
  })

  test('reports the network to allow for a target that this process may not reach', async () => {
    const { name } = await endpoint()
    const elsewhere = rig.client({ allowNetworks: [] })
    const result = await elsewhere.endpoints.test(name)
    expect(result).toMatchObject({ ok: false, class: 'permanent', finding: 'address_refused' })
    expect(result.explanation).toContain('127.0.0.0/8')
    expect(receiver.ledger.count).toBe(0)
  })

  test('reports unusable settings', async () => {
    const { name } = await endpoint()
    await rig.rows(`update holdfast_internal.endpoints set config = '{"url": "nonsense"}' where name = $1`, [
      name,
    ])
    expect(await holdfast.endpoints.test(name)).toMatchObject({ ok: false, finding: 'settings_unusable' })
  })

  test('rejects an unknown endpoint', async () => {
    await expect(holdfast.endpoints.test('nobody')).rejects.toMatchObject({ code: 'endpoint_not_found' })
  })
})
