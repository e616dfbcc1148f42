import { expect, test } from 'vitest'
import { silentLogger } from '../engine/logger.ts'
import { Heartbeat } from './heartbeat.ts'
import { createWorkBoardMemory } from './work-board/work-board.ts'

test('a worker is fenced before its lease is over, when no beat has got through', async () => {
  const heartbeat = new Heartbeat({
    address: { kind: 'postgres', databaseUrl: 'postgres://nobody', ownsSessions: true },
    incarnation: 1,
    heartbeatMs: 100,
    leaseMs: 1000,
    board: createWorkBoardMemory(),
    blockedLoopMs: 10_000,
    endBlockedAfterMs: null,
    logger: silentLogger,
    onBeat: () => {},
    onRecovered: () => {},
  })
  expect(heartbeat.isFenced).toBe(false)
  await new Promise((resolve) => setTimeout(resolve, 710))
  expect(heartbeat.isFenced).toBe(true)
})
