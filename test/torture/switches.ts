import type { LeftOut } from './evidence.ts'
import { type FaultKind, faultKinds } from './fault-plan.ts'
import type { PublisherSwitches } from './publishers.ts'

/** Everything is on unless `--without` names it. */
export interface Switches extends PublisherSwitches {
  readonly kinds: readonly FaultKind[]
  readonly hasMonthEdge: boolean
  readonly leftOut: readonly LeftOut[]
}

const otherNames = ['prepared-transactions', 'asynchronous-publishers', 'month-edge'] as const
export const switchNames: readonly string[] = [...faultKinds, ...otherNames]

/** Null: there is no such name. */
export function switchOff(names: readonly string[]): Switches | null {
  const off = new Set(names)
  if (names.some((name) => !switchNames.includes(name))) return null
  return {
    kinds: faultKinds.filter((kind) => !off.has(kind)),
    hasPrepared: !off.has('prepared-transactions'),
    hasAsynchronous: !off.has('asynchronous-publishers'),
    hasMonthEdge: !off.has('month-edge'),
    leftOut: names.map((name) => ({ name, why: 'switched off with --without' })),
  }
}
