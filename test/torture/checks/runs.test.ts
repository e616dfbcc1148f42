import { describe, expect, it } from 'vitest'
import { maxHeldRuns, type WorkerLife } from '../work-crew.ts'
import { evidenceOf } from './hand-made.ts'
import { fewRunsAreBegunTwice } from './runs.ts'

describe('the check of runs that were begun twice', () => {
  const lifeOf = (worker: string, begun: WorkerLife['begun'], rest: Partial<WorkerLife> = {}) => ({
    worker,
    begun,
    killedAtMs: null,
    leaseLostAtMs: [],
    ...rest,
  })
  const many = (count: number, atMs: number) => Array.from({ length: count }, (_, n) => ({ n, atMs }))
  const judged = (...workers: WorkerLife[]) => fewRunsAreBegunTwice(evidenceOf({ workers })).violations

  it('accepts what a killed worker can have held', () => {
    const killed = lifeOf('a', many(maxHeldRuns, 1000), { killedAtMs: 1100 })
    expect(judged(killed, lifeOf('b', many(maxHeldRuns, 5000)))).toEqual([])
  })

  it('finds one more', () => {
    const killed = lifeOf('a', many(maxHeldRuns + 1, 1000), { killedAtMs: 1100 })
    expect(judged(killed, lifeOf('b', many(maxHeldRuns + 1, 5000)))).toHaveLength(1)
  })

  it('finds a run that was begun again though nothing had happened to its worker', () => {
    const other = lifeOf('c', [], { killedAtMs: 1100 })
    expect(judged(lifeOf('a', many(1, 1000)), lifeOf('b', many(1, 5000)), other)).toHaveLength(1)
  })

  it('finds a run that was begun long before its worker was killed', () => {
    const killed = lifeOf('a', many(1, 1000), { killedAtMs: 60_000 })
    expect(judged(killed, lifeOf('b', many(1, 61_000)))).toHaveLength(1)
  })
})
