import { describe, expect, it } from 'vitest'
import { report } from '../report.ts'
import { judge, longRunMs, withoutSilence } from './all-checks.ts'
import { evidenceOf } from './hand-made.ts'
import { everyFaultStruck, monthsEndQuietly } from './nodes.ts'

describe('a row that judged nothing', () => {
  const empty = { row: 'a promise', checked: 0, violations: [] }

  it('is red in a long run', () => {
    expect(withoutSilence(empty, longRunMs).violations).toEqual(['nothing was judged'])
  })

  it('is explained in a short one, and where it says why itself', () => {
    expect(withoutSilence(empty, longRunMs - 1)).toMatchObject({
      violations: [],
      unjudged: 'the run was shorter than two minutes',
    })
    const explained = withoutSilence({ ...empty, unjudged: 'switched off' }, longRunMs)
    expect(explained).toMatchObject({ violations: [], unjudged: 'switched off' })
    expect(report([explained])).toContain('nothing was judged: switched off')
  })

  it('needs no explanation once it has judged something', () => {
    expect(withoutSilence({ ...empty, checked: 1, unjudged: 'switched off' }, longRunMs)).toEqual({
      ...empty,
      checked: 1,
    })
  })

  it('makes a long run without any evidence red from top to bottom', () => {
    const verdicts = judge(evidenceOf({}), longRunMs)
    expect(verdicts.filter(({ violations }) => violations.length === 0)).toEqual([])
  })
})

it('a kind of fault that was planned and never struck is a violation', () => {
  const struck = [{ kind: 'kill' as const, node: 'node-0', fromMs: 0, untilMs: 1 }]
  const judged = (plannedKinds: readonly ('kill' | 'freeze')[]) =>
    everyFaultStruck(evidenceOf({ fleet: { struck }, plannedKinds })).violations
  expect(judged(['kill'])).toEqual([])
  expect(judged(['kill', 'freeze'])).toEqual(['freeze was never carried out'])
})

it('a month that ends without reaching the next partition, or in the default one, is seen', () => {
  const judged = (messages: readonly { partition: string; rows: number }[]) =>
    monthsEndQuietly(evidenceOf({ month: { messages } }))
  const november = { partition: 'messages_2026_11', rows: 5 }
  const december = { partition: 'messages_2026_12', rows: 3 }
  expect(judged([november, december])).toMatchObject({ checked: 3, violations: [] })
  expect(judged([november]).checked).toBe(0)
  expect(judged([november, { partition: 'messages_default', rows: 2 }]).violations).toHaveLength(1)
})
