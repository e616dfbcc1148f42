import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

test('probes never overlap over three nodes, also when the prober is killed', async () => {
  await stage.endpoint('ill', {
    circuit: { threshold: 3, cooldownMs: 1000 },
    config: { url: stage.receiver.urlOf('ill'), timeoutMs: 1000 },
    limits: { concurrency: 32 },
  })
  let isIll = true
  stage.receiver.behave('ill', async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    return { status: isIll ? 500 : 200 }
  })
  const nodes = await stage.startNodes(['a', 'b', 'c'])
  await stage.balanced(nodes)
  const ids = await stage.publish('ill', 200)
  const circuit = async () =>
    (
      await stage.pool.query<{ state: string; version: number }>(
        'select state, version from holdfast_internal.breakers',
      )
    ).rows[0]
  await stage.until(circuit, (row) => row?.state === 'open', 20_000, 'the circuit to open')
  await stage.receiver.when(
    () => stage.receiver.outNow('ill') === 0,
    20_000,
    () => 'requests from before',
  )
  stage.receiver.forgetMostOut()
  const from = stage.receiver.requests.length
  // Two probes by the first owner, then it is killed in the middle of the third.
  await stage.receiver.when(
    () => stage.receiver.requests.length === from + 3,
    30_000,
    () => 'no probes',
  )
  const prober = await stage.ownerOf('ill')
  prober.kill()
  const killedAtMs = performance.now()
  await stage.receiver.when(
    () => stage.receiver.requests.length === from + 4,
    40_000,
    () => 'nobody probes after the death',
  )
  console.log(
    `probes: the next one came ${Math.round(performance.now() - killedAtMs)} ms after the prober's death`,
  )
  const probes = stage.receiver.requests.slice(from, from + 3)
  // Each probe takes another delivery, so that none is worn out by probing.
  expect(new Set(probes.map(({ webhookId }) => webhookId)).size).toBe(3)
  isIll = false
  await stage.until(circuit, (row) => row?.state === 'closed', 30_000, 'the circuit to close')
  expect(stage.receiver.mostOut('ill')).toBe(1)
  await stage.receiver.whenAccepted(ids, 60_000)
  await stage.settled()
})
