import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { newSigningSecret } from '../../../src/transports/http/signing-secret.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer, choose, script } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import type { ReceivedRequest } from '../../support/receivers/ledger.ts'

let rig: Rig
let receiver: HttpReceiver
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())
beforeEach(async () => {
  receiver = await HttpReceiver.start()
  return () => receiver.stop()
})

const quickRetry = { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 3 } as const
let lastName = 0

async function create(settings: object = {}, config: object = {}) {
  lastName += 1
  const name = `signed-${lastName}`
  const created = await node.holdfast.endpoints.create({
    name,
    retry: quickRetry,
    config: { url: receiver.url, ...config },
    ...settings,
  })
  return { name, secret: created.signingSecret ?? '' }
}

function isSignedWith(secret: string, request: ReceivedRequest): boolean {
  try {
    new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

describe('a new endpoint', () => {
  it('gets a secret that is shown once, and signs with it', async () => {
    const { name, secret } = await create()
    expect(secret).toMatch(/^whsec_/)
    await node.holdfast.send(name, { Größe: '1\u2028' })
    const [request] = await receiver.ledger.waitFor(1)
    expect(isSignedWith(secret, request!)).toBe(true)
    expect(JSON.stringify(await node.holdfast.endpoints.get(name))).not.toContain(secret)
    expect(JSON.stringify(await node.holdfast.endpoints.list())).not.toContain(secret)
  })

  it('takes a secret of the caller, and never shows it', async () => {
    const own = newSigningSecret()
    const { name, secret } = await create({}, { signing: { scheme: 'standard-webhooks', secret: own } })
    expect(secret).toBe('')
    await node.holdfast.send(name, {})
    const [request] = await receiver.ledger.waitFor(1)
    expect(isSignedWith(own, request!)).toBe(true)
  })

  it('signs what request() sends, too', async () => {
    const { name, secret } = await create()
    await node.holdfast.request(name, { path: '/now', payload: { a: 1 } })
    expect(isSignedWith(secret, receiver.ledger.requests[0]!)).toBe(true)
  })

  it('signs a batch as one body', async () => {
    const { name, secret } = await create({ batch: { maxMessages: 10, maxWaitMs: 50 } })
    await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }])
    const requests = await until(
      'both to arrive',
      () => receiver.ledger.requests,
      (all) => all.flatMap((request) => JSON.parse(request.body) as number[]).length === 2,
    )
    expect(requests.every((request) => isSignedWith(secret, request))).toBe(true)
  })

  it('signs the data of a CloudEvent in binary mode', async () => {
    const { name, secret } = await create()
    await node.holdfast.routes.create({
      name: `route-${name}`,
      eventType: name,
      endpoint: name,
      transform: { type: 'cloudevents', mode: 'binary', source: '/shop' },
    })
    await node.holdfast.publish(name, { a: 1 })
    const [request] = await receiver.ledger.waitFor(1)
    expect(request?.headers['ce-type']).toBe(name)
    expect(isSignedWith(secret, request!)).toBe(true)
  })

  it('shows in a preview that a signature and credentials would be there, and not which', async () => {
    const { name } = await create({}, { auth: { type: 'apiKey', header: 'x-crm', key: 'canary-key' } })
    const { request } = await node.holdfast.routes.preview({
      route: { eventType: 'x', endpoint: name },
      event: { type: 'x', payload: {} },
    })
    expect(request?.headers).toMatchObject({ 'webhook-signature': '[redacted]', 'x-crm': '[redacted]' })
  })

  it('has the same id over retries and a redrive, each time with a signature of its own', async () => {
    receiver.behave(script(500, 400, 204))
    const { name, secret } = await create()
    const { id } = await node.holdfast.send(name, { n: 1 })
    const letter = await until(
      'the dead letter',
      async () => (await node.holdfast.deadLetters.list({ endpoint: name })).data[0],
      (found) => found !== undefined,
    )
    await node.holdfast.deadLetters.redrive(letter!.id)
    const requests = await receiver.ledger.waitFor(3)
    expect(requests.map(({ webhookId }) => webhookId)).toEqual([id, id, id])
    expect(requests.every((request) => isSignedWith(secret, request))).toBe(true)
  })
})

describe('rotating the secret', () => {
  it('signs with both for the overlap, and with the new one alone afterwards', async () => {
    const { name, secret: oldSecret } = await create()
    const before = Date.now()
    const rotated = await node.holdfast.endpoints.rotateSecret(name)
    expect(rotated.secret).toMatch(/^whsec_/)
    const overlapMs = rotated.previousExpiresAt!.getTime() - before
    expect(overlapMs).toBeGreaterThan(86_400_000 - 60_000)
    expect(overlapMs).toBeLessThan(86_400_000 + 60_000)
    const both = await sendUntil(name, (request) => isSignedWith(rotated.secret, request))
    expect(isSignedWith(oldSecret, both)).toBe(true)
    const { secrets } = await node.holdfast.endpoints.get(name)
    expect(secrets.map(({ expiresAt }) => expiresAt === null)).toEqual([true, false])

    // A day later.
    await rig.rows(
      `update holdfast_internal.endpoint_secrets set expires_at = now() - interval '1 second' where expires_at is not null`,
    )
    await node.holdfast.endpoints.update(name, { contact: 'ada' })
    const after = await sendUntil(name, (request) => !isSignedWith(oldSecret, request))
    expect(isSignedWith(rotated.secret, after)).toBe(true)
    expect((await node.holdfast.endpoints.get(name)).secrets).toHaveLength(1)
  })

  it('forgets a secret that leaked at once', async () => {
    const { name, secret: leaked } = await create()
    await node.holdfast.endpoints.rotateSecret(name)
    const own = newSigningSecret()
    const rotated = await node.holdfast.endpoints.rotateSecret(name, { overlapMs: 0, secret: own })
    expect(rotated).toEqual({ endpoint: name, secret: own, previousExpiresAt: null })
    const request = await sendUntil(name, (seen) => isSignedWith(own, seen))
    expect(isSignedWith(leaked, request)).toBe(false)
    expect(
      await rig.value('select count(*)::int from holdfast_internal.endpoint_secrets where lane_id = $1', [
        await rig.laneId(name),
      ]),
    ).toBe(1)
  })

  it('keeps every rotation when several come at once, the newest four beside the present one', async () => {
    const { name } = await create()
    const rotations = await Promise.all(
      Array.from({ length: 6 }, () => node.holdfast.endpoints.rotateSecret(name)),
    )
    const versions = await rig.rows<{ version: number; isPresent: boolean }>(
      `select version, expires_at is null as "isPresent" from holdfast_internal.endpoint_secrets where lane_id = $1 order by version`,
      [await rig.laneId(name)],
    )
    expect(versions).toEqual([3, 4, 5, 6, 7].map((version) => ({ version, isPresent: version === 7 })))
    const isBySome = (request: ReceivedRequest) =>
      rotations.filter(({ secret }) => isSignedWith(secret, request)).length
    const request = await sendUntil(name, (seen) => isBySome(seen) === 5)
    expect(String(request.headers['webhook-signature']).split(' ')).toHaveLength(5)
  })

  it.each([
    ['an endpoint that does not sign', { signing: { scheme: 'none' } }, {}, 'invalid_endpoint'],
    ['a secret that is too short', {}, { secret: 'whsec_c2hvcnQ=' }, 'invalid_options'],
    ['an overlap without end', {}, { overlapMs: 1e12 }, 'invalid_options'],
    ['an overlap in the past', {}, { overlapMs: -1 }, 'invalid_options'],
  ])('is refused for %s', async (_, config, options, code) => {
    const { name } = await create({}, config)
    const error: unknown = await node.holdfast.endpoints
      .rotateSecret(name, options)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error).toMatchObject({ code })
    expect((error as HoldfastError).message).not.toContain('c2hvcnQ')
  })

  /** Sends until a request is as wanted: the node hears of a change a moment after it was committed. */
  async function sendUntil(
    name: string,
    isWanted: (request: ReceivedRequest) => boolean,
  ): Promise<ReceivedRequest> {
    return until(
      'a request as wanted',
      async () => {
        const { id } = await node.holdfast.send(name, {})
        return receiver.ledger.waitForRequest(({ webhookId }) => webhookId === id)
      },
      isWanted,
    )
  }
})

it('a receiver that refuses one message by its signature does not stop the others', async () => {
  const { name, secret } = await create({ retry: { ...quickRetry, maxRetries: 0 } })
  receiver.behave(choose((request) => (isSignedWith(secret, request) ? 204 : answer(401))))
  await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }, { payload: 3 }])
  await rig.whenSettled(name)
  expect(receiver.ledger.count).toBe(3)
  expect(
    await rig.value('select count(*)::int from holdfast_internal.dead_letters where lane_id = $1', [
      await rig.laneId(name),
    ]),
  ).toBe(0)
})
