import { expect, test } from 'vitest'
import { orderViolations } from '../support/processes/order-violations.ts'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'
import { startTransactionPoolingProxy } from '../support/transaction-pooling-proxy.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

const keys = 20
const perKey = 30

/** Keyed messages over four endpoints, published round by round so that keys interleave. */
async function publishKeyed(endpoints: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const endpoint of endpoints) {
    ids.push(
      ...(await stage.publish(endpoint, keys * perKey, (n) => ({
        payload: { key: `${endpoint}/${n % keys}`, n: Math.floor(n / keys) },
        orderingKey: `key-${n % keys}`,
      }))),
    )
  }
  return ids
}

async function loseOneOfThree(databaseUrl: string): Promise<void> {
  const endpoints = ['one', 'two', 'three', 'four']
  for (const name of endpoints) {
    await stage.endpoint(name)
    let count = 0
    stage.receiver.behave(name, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      count += 1
      return { status: count % 40 === 0 ? 503 : 200 }
    })
  }
  const nodes = await stage.startNodes(['a', 'b', 'c'], { databaseUrl })
  await stage.balanced(nodes)
  const ids = await publishKeyed(endpoints)
  await stage.receiver.when(
    () => stage.receiver.acceptedCount >= 200,
    30_000,
    () => 'no load',
  )
  const victim = await stage.ownerOf('one')
  victim.kill()
  await stage.receiver.whenAccepted(ids, 90_000)
  await stage.settled()
  console.log(`${stage.receiver.duplicateCount} of ${ids.length} sent twice`)
  expect(orderViolations(stage.receiver.requests)).toEqual([])
  expect(stage.receiver.duplicateCount).toBeLessThanOrEqual(endpoints.length * keys + 2000)
}

test('keys keep their order over the death of a node', async () => {
  await loseOneOfThree(stage.databaseUrl)
})

test('behind a proxy that pools transactions, nodes poll, keep the order of keys and lose nothing over a death', async () => {
  const proxy = await startTransactionPoolingProxy(stage.databaseUrl, { poolSize: 12 })
  try {
    await loseOneOfThree(proxy.url)
    const warnings = stage.nodes.map(({ logLines }) =>
      logLines.some((line) => line.event === 'log' && line.message.includes('the node polls')),
    )
    expect(warnings).toEqual([true, true, true])
  } finally {
    await Promise.all(stage.nodes.map((node) => node[Symbol.asyncDispose]()))
    await proxy.stop()
  }
})
