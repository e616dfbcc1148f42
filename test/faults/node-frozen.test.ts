import { expect, test } from 'vitest'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'
import { Gate } from '../support/receivers/gate.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

test('a node that was frozen past its time has lost its shards and comes back as a new incarnation', async () => {
  const endpoints = Array.from({ length: 8 }, (_, index) => `target-${index}`)
  for (const name of endpoints) await stage.endpoint(name, { limits: { concurrency: 4 } })
  const nodes = await stage.startNodes(['a', 'b'])
  await stage.balanced(nodes)
  const victim = await stage.ownerOf(endpoints[0]!)
  const peer = nodes.find((node) => node !== victim)!
  const before = victim.incarnation
  const gate = new Gate()
  for (const name of endpoints) {
    stage.receiver.behave(name, async () => {
      await gate.passed()
      return { status: 200 }
    })
  }
  const ids: string[] = []
  for (const name of endpoints) ids.push(...(await stage.publish(name, 20)))
  await stage.receiver.when(
    () => endpoints.every((name) => stage.receiver.outNow(name) === 4),
    20_000,
    () => 'not every lane is busy',
  )
  victim.freeze()
  const frozenAtMs = performance.now()
  const taken = await peer.waitFor('shards-taken', ({ from }) => from === before, 20_000)
  gate.open()
  await stage.receiver.whenAccepted(ids, 30_000)
  await stage.until(
    async () =>
      (await stage.pool.query('select from holdfast_internal.nodes where incarnation = $1', [before]))
        .rowCount,
    (rows) => rows === 0,
    20_000,
    'the victim to be forgotten',
  )
  victim.thaw()
  const back = await victim.waitFor('shards-taken', ({ incarnation }) => incarnation > before, 30_000)
  console.log(
    `SIGSTOP: taken over after ${Math.round(taken.atMs - frozenAtMs)} ms; ` +
      `back as incarnation ${back.incarnation} (was ${before}); ${stage.receiver.duplicateCount} sent twice`,
  )
  expect(victim.signals.map(({ event }) => event)).toContain('fenced')
  await stage.balanced(nodes)
  await stage.settled()
  // What was out when it froze, and nothing else.
  expect(stage.receiver.duplicateCount).toBeLessThanOrEqual(endpoints.length * 4)
  const more: string[] = []
  for (const name of endpoints) more.push(...(await stage.publish(name, 5)))
  await stage.receiver.whenAccepted(more, 20_000)
})

const interrupted = 6

test('what a node decided before it lost its shards changes nothing, what it delivered counts', async () => {
  await using proxy = await CuttingProxy.start(stage.databaseUrl)
  await stage.endpoint('target', {
    limits: { concurrency: 2 },
    retry: { maxRetries: 0 },
    circuit: { threshold: 1, cooldownMs: 60_000 },
  })
  const firstGate = new Gate()
  const secondGate = new Gate()
  const seen = new Map<string, number>()
  stage.receiver.behave('target', async ({ webhookId, body }) => {
    const times = (seen.get(webhookId) ?? 0) + 1
    seen.set(webhookId, times)
    await (times === 1 ? firstGate : secondGate).passed()
    return { status: times === 1 && (body as { n: number }).n === 0 ? 500 : 200 }
  })
  const [victim] = await stage.startNodes(['a'], { databaseUrl: proxy.url })
  const ids = await stage.publish('target', 2)
  await stage.receiver.when(
    () => stage.receiver.outNow('target') === 2,
    20_000,
    () => 'not both are out',
  )
  const [peer] = await stage.startNodes(['b'], { limits: { beatMs: 500 } })
  proxy.swallow()
  // Both answers reach the victim, which can tell nobody: one message is delivered, the other it declares dead.
  firstGate.open()
  await peer!.waitFor('shards-taken', ({ from }) => from === victim!.incarnation, 20_000)
  await stage.receiver.when(
    () => ids.every((id) => stage.receiver.requestsOf(id).length === 2),
    20_000,
    () => 'the heir has not begun',
  )
  proxy.carry()
  const facts = await stage.until(
    async () =>
      (
        await stage.pool.query<{ outcome: number }>(
          'select outcome from holdfast_internal.attempts order by outcome',
        )
      ).rows.map(({ outcome }) => outcome),
    // The heir has recorded both as interrupted; what the victim reports takes their places.
    (outcomes) => outcomes.length === 2 && !outcomes.includes(interrupted),
    30_000,
    'the victim to report both attempts',
  )
  expect(facts).toEqual([1, 2])
  const { rows } = await stage.pool.query(
    `select attempt, (select count(*)::int from holdfast_internal.dead_letters) as letters,
       (select count(*)::int from holdfast_internal.breakers where state <> 'closed' or failures > 0) as failing
     from holdfast_internal.deliveries`,
  )
  expect(rows).toEqual([{ attempt: 0, letters: 0, failing: 0 }])
  secondGate.open()
  await stage.settled()
  expect((await stage.pool.query('select from holdfast_internal.dead_letters')).rowCount).toBe(0)
})
