import { afterEach, beforeEach, expect, test } from 'vitest'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { Stage } from '../support/processes/stage.ts'

const endpoints = ['one', 'two', 'three', 'four']
const concurrency = 16

let database: DatabaseProcess
let stage: Stage

beforeEach(async () => {
  database = await DatabaseProcess.start()
  stage = await Stage.open(database.url)
})

afterEach(async () => {
  await stage[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

interface Outage {
  readonly what: string
  readonly begin: () => Promise<void>
  readonly end: () => Promise<void>
  readonly downMs: number
}

const outages: Outage[] = [
  {
    what: 'killed and started again',
    begin: () => database.crash(),
    end: () => database.restart(),
    downMs: 500,
  },
  {
    what: 'stopped and started again after longer than any node may be silent',
    begin: () => database.stop(),
    end: () => database.restart(),
    downMs: 7000,
  },
  {
    what: 'frozen for longer than any node may be silent',
    begin: () => database.freeze(),
    end: () => database.thaw(),
    downMs: 7000,
  },
]

for (const { what, begin, end, downMs } of outages) {
  test(`everything goes on after PostgreSQL was ${what}, and no node is declared dead`, async () => {
    for (const name of endpoints) {
      await stage.endpoint(name, { limits: { concurrency } })
      stage.receiver.behave(name, async () => {
        await new Promise((resolve) => setTimeout(resolve, 25))
        return { status: 200 }
      })
    }
    const nodes = await stage.startNodes(['a', 'b', 'c'])
    await stage.balanced(nodes)
    const incarnations = nodes.map(({ incarnation }) => incarnation)
    const ids: string[] = []
    for (const name of endpoints) ids.push(...(await stage.publish(name, 900)))
    await stage.receiver.when(
      () => stage.receiver.acceptedCount >= 500,
      30_000,
      () => 'no load',
    )
    await begin()
    await new Promise((resolve) => setTimeout(resolve, downMs))
    const acceptedBefore = stage.receiver.acceptedCount
    await end()
    const upAtMs = performance.now()
    await stage.receiver.when(
      () => stage.receiver.acceptedCount > acceptedBefore,
      30_000,
      () => 'nothing came after the outage',
    )
    const resumedMs = performance.now() - upAtMs
    await stage.receiver.whenAccepted(ids, 60_000)
    const more = (await Promise.all(endpoints.map((name) => stage.publish(name, 5)))).flat()
    await stage.receiver.whenAccepted(more, 20_000)
    await stage.settled()
    console.log(
      `PostgreSQL ${what}: resumed ${Math.round(resumedMs)} ms after it was back, ${stage.receiver.duplicateCount} sent twice`,
    )
    const owners = await stage.balanced(nodes)
    expect(new Set(owners.map(({ incarnation }) => incarnation))).toEqual(new Set(incarnations))
    const takeovers = nodes.flatMap((node) =>
      node.signals.filter(
        (signal) =>
          signal.event === 'shards-taken' && signal.from !== 0 && signal.from !== signal.incarnation,
      ),
    )
    expect(takeovers).toEqual([])
    // Only a node that had to fence itself gave up requests that were out, once.
    expect(stage.receiver.duplicateCount).toBeLessThanOrEqual(endpoints.length * concurrency)
  })
}
