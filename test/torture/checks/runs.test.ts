import { describe, expect, it } from 'vitest'
import { maxHeldRuns, type WorkerLife } from '../work-crew.ts'
import { evidenceOf } from './hand-made.ts'
import {
  brokerRunsAreNotLost,
  fewBrokerRunsAreBegunTwice,
  fewRunsAreBegunTwice,
  runsOfAKeyAreInOrder,
} from './runs.ts'

describe('the check of runs that were begun twice', () => {
  const lifeOf = (worker: string, begun: WorkerLife['begun'], rest: Partial<WorkerLife> = {}) => ({
    worker,
    begun,
    killedAtMs: null,
    leaseLostAtMs: [],
    lossMs: 10_000,
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

describe('the check of the order within a key', () => {
  const lifeOf = (worker: string, begun: WorkerLife['begun']): WorkerLife => ({
    worker,
    begun,
    killedAtMs: null,
    leaseLostAtMs: [],
    lossMs: 10_000,
  })
  const judged = (keys: Record<number, string>, ...workers: WorkerLife[]) => {
    const numbers = Object.keys(keys).map(Number)
    const log = {
      keys: new Map(numbers.map((n) => [n, keys[n]!])),
      accepted: new Set(numbers),
      faults: [],
      starts: 1,
    }
    return runsOfAKeyAreInOrder(evidenceOf({ crew: log, workers })).violations
  }
  const keys = { 1: 'a', 2: 'a', 3: 'b' }

  it('accepts runs that are begun one after the other, also again after a crash', () => {
    const first = lifeOf('x', [
      { n: 1, atMs: 1000 },
      { n: 3, atMs: 900 },
    ])
    const second = lifeOf('y', [
      { n: 1, atMs: 5000 },
      { n: 2, atMs: 6000 },
    ])
    expect(judged(keys, first, second)).toEqual([])
  })

  it('finds a run that was begun before the one in front of it', () => {
    expect(
      judged(keys, lifeOf('x', [{ n: 1, atMs: 2000 }]), lifeOf('y', [{ n: 2, atMs: 1000 }])),
    ).toHaveLength(1)
    const one = [
      { n: 2, atMs: 1000 },
      { n: 1, atMs: 1001 },
    ]
    expect(judged(keys, lifeOf('x', one))).toHaveLength(1)
  })
})

describe('the checks of runs over the broker', () => {
  const carrier: WorkerLife = {
    worker: 'carrier-0',
    lossMs: 10_000,
    begun: [
      { n: 7, atMs: 1000 },
      { n: 7, atMs: 2000 },
    ],
    killedAtMs: null,
    leaseLostAtMs: [],
  }
  const log = { keys: new Map(), accepted: new Set([7]), faults: [], starts: 1 }
  const brokerCrew = { log, lives: [carrier] }
  const ended = { n: 7, isOwed: false, isDead: false, successes: 1 }

  it('find a run that is still owed', () => {
    const judged = (isOwed: boolean) =>
      brokerRunsAreNotLost(evidenceOf({ brokerCrew, runs: new Map([[7, { ...ended, isOwed }]]) })).violations
    expect(judged(false)).toEqual([])
    expect(judged(true)).toEqual(['run 7 is still owed'])
  })

  it('find a run that one worker began twice', () => {
    expect(fewBrokerRunsAreBegunTwice(evidenceOf({ brokerCrew })).violations).toHaveLength(1)
  })

  it('say why they judged nothing where there was no broker', () => {
    const leftOut = [{ name: 'broker', why: 'rabbitmq-server is not installed' }]
    for (const check of [brokerRunsAreNotLost, fewBrokerRunsAreBegunTwice])
      expect(check(evidenceOf({ leftOut }))).toMatchObject({ checked: 0, unjudged: leftOut[0]?.why })
  })
})
