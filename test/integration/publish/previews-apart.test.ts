import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'

describe('previews', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start()
  })
  afterAll(async () => rig.stop())

  const preview = async (endpoint: string, route: object) =>
    node.holdfast.routes.preview({
      route: { eventType: 'order.*', endpoint, ...route },
      event: { type: 'order.created', payload: { id: 7 } },
    })
  const endless = { type: 'jsonata', expression: '($f := function($x){ $f($x) }; $f(1))', timeoutMs: 1000 }

  // Six seconds of processor time, of which a busy machine gives this thread a tenth.
  it('that are slow do not delay deliveries', { timeout: 180_000 }, async () => {
    const endpoint = await functionEndpoint(node.holdfast, () => undefined)
    const transform = { type: 'jsonata', expression: '{ "order": id }' } as const
    await node.holdfast.routes.create({ name: 'orders', eventType: 'order.*', endpoint, transform })
    await node.holdfast.publish('order.created', { id: 1 })
    await node.log.waitForAttempts(endpoint, 1)
    let ended = 0
    // Expressions take turns, so each of them would delay a delivery by its own.
    const previews = Array.from({ length: 6 }, async (_, n) => {
      const expression = endless.expression.replace('$f(1)', `$f(${n})`)
      await preview(endpoint, { transform: { ...endless, expression } })
      ended += 1
    })
    // Now the others are being evaluated.
    await Promise.race(previews)
    for (let id = 2; id <= 5; id += 1) await node.holdfast.publish('order.created', { id })
    await node.log.waitForAttempts(endpoint, 5)
    expect(ended).toBeLessThanOrEqual(2)
    await Promise.all(previews)
  })

  it('are refused beyond a number that may wait', { timeout: 120_000 }, async () => {
    const endpoint = await functionEndpoint(node.holdfast, () => undefined)
    const quick = { ...endless, timeoutMs: 10 }
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, async () => preview(endpoint, { transform: quick })),
    )
    const codes = results.map((result) =>
      result.status === 'fulfilled' ? 'made' : (result.reason as { code: string }).code,
    )
    expect(codes.filter((code) => code === 'made')).toHaveLength(18)
    expect(new Set(codes)).toEqual(new Set(['made', 'previews_busy']))
    await expect(preview(endpoint, {})).resolves.toMatchObject({ matches: true })
  })

  it('with a filter that compares lists with lists end with advice', { timeout: 60_000 }, async () => {
    const endpoint = await functionEndpoint(node.holdfast, () => undefined)
    await expect(
      node.holdfast.routes.preview({
        route: { eventType: 'order.*', endpoint, filter: 'exists($.a[*] ? (@ == $.b[*]))' },
        event: {
          type: 'order.created',
          payload: {
            a: Array.from({ length: 60_000 }, (_, n) => n),
            b: Array.from({ length: 60_000 }, (_, n) => -n - 1),
          },
        },
      }),
    ).rejects.toMatchObject({
      code: 'invalid_filter',
      message: expect.stringContaining('instead of lists'),
    })
  })
})
