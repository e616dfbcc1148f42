import { expect, test } from 'vitest'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

const passing = 100_000
const promptMs = 2000
const heldUpMs = 3000

/** The message is accepted inside a transaction that stays open until `commit` is called. */
async function publishInOpenTransaction(
  endpoint: string,
): Promise<{ id: string; commit: () => Promise<void> }> {
  const client = await stage.pool.connect()
  await client.query('begin')
  const { id } = await stage.publisher.send(endpoint, { isLate: true }, { client })
  return {
    id,
    commit: async () => {
      await client.query('commit')
      client.release()
    },
  }
}

test(`a message whose transaction stays open while ${passing} pass is delivered promptly after its commit`, async () => {
  await stage.endpoint('busy', { transport: 'function', limits: { concurrency: 500 } })
  await stage.endpoint('quiet')
  await stage.endpoint('used')
  const [node] = await stage.startNodes(['a'], { handlers: { busy: 'accept' } })
  await stage.receiver.whenAccepted(await stage.publish('used', 1), 20_000)
  const late = [await publishInOpenTransaction('quiet'), await publishInOpenTransaction('used')]
  const startedAtMs = performance.now()
  await stage.publish('busy', passing)
  await stage.receiver.whenAccepted(await stage.publish('used', 1), 60_000)
  await stage.settled(90_000)
  const passedMs = performance.now() - startedAtMs
  for (const { id, commit } of late) {
    await commit()
    const committedAtMs = performance.now()
    await stage.receiver.whenAccepted([id], 20_000)
    const promptnessMs = performance.now() - committedAtMs
    console.log(
      `late commit: delivered ${Math.round(promptnessMs)} ms after its commit, ${passing} passed in ${Math.round(passedMs)} ms`,
    )
    expect(promptnessMs).toBeLessThanOrEqual(promptMs)
  }
  await stage.settled()
  expect(node!.isRunning).toBe(true)
})

test('a late commit is delivered promptly after a read behind the cursor was held up for seconds', async () => {
  await stage.endpoint('steady')
  await using proxy = await CuttingProxy.start(stage.databaseUrl)
  await stage.startNodes(['a'], { databaseUrl: proxy.url })
  const first = await publishInOpenTransaction('steady')
  await stage.receiver.whenAccepted(await stage.publish('steady', 3), 20_000)
  const reading = proxy.keepNextAnswer('read_range')
  await first.commit()
  const answer = await reading
  await new Promise((resolve) => setTimeout(resolve, heldUpMs))
  answer.release()
  await stage.receiver.whenAccepted([first.id], 10_000)
  const second = await publishInOpenTransaction('steady')
  await stage.receiver.whenAccepted(await stage.publish('steady', 3), 20_000)
  await second.commit()
  const committedAtMs = performance.now()
  await stage.receiver.whenAccepted([second.id], 60_000)
  expect(performance.now() - committedAtMs).toBeLessThanOrEqual(promptMs)
})

test('a late commit to an endpoint that was created a moment ago is delivered', async () => {
  await stage.endpoint('steady')
  await stage.startNodes(['a'])
  for (let round = 0; round < 10; round++) {
    await stage.endpoint(`fresh-${round}`)
    const late = await publishInOpenTransaction(`fresh-${round}`)
    await stage.receiver.whenAccepted(await stage.publish('steady', 3), 20_000)
    await late.commit()
    await stage.receiver.whenAccepted([late.id], 10_000)
  }
})

test('a message that is rolled back is never seen, and nothing waits for it', async () => {
  await stage.endpoint('steady')
  await stage.startNodes(['a'])
  const client = await stage.pool.connect()
  await client.query('begin')
  const { id } = await stage.publisher.send('steady', {}, { client })
  await stage.receiver.whenAccepted(await stage.publish('steady', 100), 20_000)
  await client.query('rollback')
  client.release()
  await stage.receiver.whenAccepted(await stage.publish('steady', 100), 20_000)
  await stage.settled()
  expect(stage.receiver.requestsOf(id)).toEqual([])
})
