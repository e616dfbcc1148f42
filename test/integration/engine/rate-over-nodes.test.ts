import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultBurst } from '../../../src/core/health/rate-limiter.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: Rig
beforeAll(async () => {
  rig = await Rig.create()
})
afterAll(() => rig.stop())

it('the rate limit holds while an endpoint moves from one node to another', async () => {
  const ratePerSecond = 50
  // At this rate they take six seconds, in which the second node has long started, on a busy machine too.
  const total = 300
  const starts: { node: string; atMs: number }[] = []
  const handler = (node: string) => () => {
    starts.push({ node, atMs: performance.now() })
  }
  const first = await rig.start({ nodeName: 'first' })
  const name = await functionEndpoint(first.holdfast, handler('first'), { limits: { ratePerSecond } })
  await first.holdfast.sendBatch(
    name,
    Array.from({ length: total }, (_, payload) => ({ payload })),
  )
  await until('some to be delivered', () => starts.length >= 25)
  const second = await rig.start({ nodeName: 'second', handlers: { [name]: handler('second') } })
  await first.holdfast.stop()
  await rig.whenSettled(name, 40_000)

  expect(starts).toHaveLength(total)
  expect(new Set(starts.map(({ node }) => node))).toEqual(new Set(['first', 'second']))
  const inOneSecond = starts.map(
    ({ atMs }) => starts.filter((other) => other.atMs >= atMs && other.atMs < atMs + 1000).length,
  )
  // One more for the timers' whole milliseconds.
  expect(Math.max(...inOneSecond)).toBeLessThanOrEqual(ratePerSecond + defaultBurst(ratePerSecond) + 1)
  expect(second.complaints).toEqual([])
})
