import { describe, expect, it } from 'vitest'
import type { ClaimedRun } from '../../storage/claim-runs.ts'
import { divideRuns } from './divide-runs.ts'

function run(id: number, jobId = 1, body = '{}'): ClaimedRun {
  return {
    claimId: 9,
    id,
    messageId: id,
    laneId: 1,
    jobId,
    attempt: 0,
    crashes: 0,
    expiresAtMs: null,
    body,
    correlationId: null,
    headers: null,
    metadata: null,
    orderingKey: null,
  }
}

function divided(
  runs: readonly ClaimedRun[],
  { due = [], maxRuns = 3 }: { readonly due?: number[]; readonly maxRuns?: number } = {},
): number[][] {
  const parts = divideRuns({ runs, due: new Set(due) }, { maxRuns, maxBytes: 100 })
  return parts.map((part) => part.map(({ id }) => id))
}

describe('runs that travel in one message', () => {
  it('are no more than so many', () => {
    expect(divided([run(1), run(2), run(3), run(4)])).toEqual([[1, 2, 3], [4]])
    expect(divided([run(1), run(2)], { maxRuns: 1 })).toEqual([[1], [2]])
  })

  it('belong to one job, in their order', () => {
    expect(divided([run(1, 1), run(2, 2), run(3, 1), run(4, 2)])).toEqual([
      [1, 3],
      [2, 4],
    ])
  })

  it('are without those that are due for a reason of their own', () => {
    expect(divided([run(1), run(2), run(3)], { due: [2] })).toEqual([[1, 3], [2]])
  })

  it('have bodies of a bounded size together, unless one is larger alone', () => {
    const large = 'x'.repeat(60)
    expect(divided([run(1, 1, large), run(2, 1, large), run(3)])).toEqual([[1], [2, 3]])
    expect(divided([run(1, 1, 'x'.repeat(200)), run(2)])).toEqual([[1], [2]])
  })
})
