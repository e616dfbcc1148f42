import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

interface Letter {
  readonly message: string
  readonly reason: string
}

async function deadLetters(): Promise<Letter[]> {
  const { rows } = await stage.pool.query<Letter>(
    `select holdfast.format_id('msg', message_id) as message, reason from holdfast_internal.dead_letters`,
  )
  return rows
}

test('a message that kills its node ends as a dead letter after three crashes, and the others are delivered', async () => {
  await stage.endpoint('jobs', { transport: 'function', limits: { concurrency: 16 } })
  const ids = await stage.publish('jobs', 60, (n) => ({ payload: { isDeadly: n === 25 } }))
  let crashes = 0
  const start = () => stage.launchNode('only', { isNameExclusive: true, handlers: { jobs: 'die-if-told' } })
  let node = start()
  for (;;) {
    const ending = await Promise.race([
      node.exited,
      stage.until(deadLetters, (letters) => letters.length > 0, 60_000, 'a dead letter').catch(() => null),
    ])
    if (ending === null || Array.isArray(ending)) break
    crashes += 1
    expect(crashes).toBeLessThanOrEqual(3)
    node = start()
  }
  expect(crashes).toBe(3)
  await stage.settled()
  expect(await deadLetters()).toEqual([{ message: ids[25]!, reason: 'crashed_its_node' }])
  const handled = new Set(
    stage.nodes.flatMap(({ signals }) =>
      signals.flatMap((signal) => (signal.event === 'handled' ? [signal.messageId] : [])),
    ),
  )
  expect([...handled].sort()).toEqual(ids.filter((_, n) => n !== 25).sort())
  // Calm returns: nothing stays under suspicion.
  await stage.until(
    async () =>
      (
        await stage.pool.query<{ suspects: number; suspicions: number }>(
          `select (select count(*)::int from holdfast_internal.suspects) as suspects,
             (select count(*)::int from holdfast_internal.shard_leases where is_suspect) as suspicions`,
        )
      ).rows[0],
    (row) => row?.suspects === 0 && row.suspicions === 0,
    10_000,
    'all suspicion to be cleared',
  )
})
