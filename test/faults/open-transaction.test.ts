import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

/** Longer than a node may be silent. */
const heldMs = 7000

const switches = [
  { what: 'resets a circuit', statement: `select holdfast.reset_circuit_breaker('ill')` },
  { what: 'pauses an endpoint', statement: `select holdfast.set_endpoint_state('ill', 'paused')` },
]

for (const { what, statement } of switches) {
  test(`a person who ${what} in a transaction that stays open delays no other session`, async () => {
    await stage.endpoint('fine')
    await stage.endpoint('ill', {
      circuit: { threshold: 1000 },
      autoDisable: { threshold: 1000 },
      limits: { concurrency: 4 },
    })
    stage.receiver.behave('ill', ({ body }) => ({ status: (body as { n: number }).n % 2 === 0 ? 500 : 200 }))
    const [node] = await stage.startNodes(['a'])
    const { incarnation } = node!
    await stage.publish('ill', 4)
    await stage.receiver.when(
      () => stage.receiver.requests.length >= 10,
      20_000,
      () => 'nothing fails',
    )
    const client = await stage.pool.connect()
    await client.query('begin')
    await client.query(statement)
    const beganAtMs = performance.now()
    const latencies: number[] = []
    while (performance.now() - beganAtMs < heldMs) {
      const sentAtMs = performance.now()
      const ids = await stage.publish('fine', 1)
      await stage.receiver.whenAccepted(ids, 20_000)
      await stage.until(
        async () =>
          (
            await stage.pool.query(
              `select from holdfast_internal.attempts where message_id = holdfast.parse_id('msg', $1)`,
              ids,
            )
          ).rowCount,
        (rows) => rows === 1,
        20_000,
        'a delivery to be settled',
      )
      latencies.push(performance.now() - sentAtMs)
    }
    await client.query('rollback')
    client.release()
    console.log(
      `slowest settled delivery beside the open transaction: ${Math.round(Math.max(...latencies))} ms`,
    )
    expect(Math.max(...latencies)).toBeLessThan(2000)
    expect(node!.signals.map(({ event }) => event)).not.toContain('fenced')
    expect(node!.incarnation).toBe(incarnation)
  })
}
