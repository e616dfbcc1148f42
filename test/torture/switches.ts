import type { LeftOut } from './evidence.ts'
import { type FaultKind, faultKinds } from './fault-plan.ts'
import type { PublisherSwitches } from './publishers.ts'

/** Everything is on unless `--without` names it. */
export interface Switches extends PublisherSwitches {
  readonly kinds: readonly FaultKind[]
  readonly hasMonthEdge: boolean
  /** Nodes in broker mode, and workers that know the broker only. */
  readonly hasBroker: boolean
  readonly leftOut: readonly LeftOut[]
}

const otherNames = ['prepared-transactions', 'asynchronous-publishers', 'month-edge', 'broker'] as const
export const switchNames: readonly string[] = [...faultKinds, ...otherNames]

const switchedOff = 'switched off with --without'

/** Null: there is no such name. */
export function switchOff(names: readonly string[]): Switches | null {
  const off = new Set(names)
  if (names.some((name) => !switchNames.includes(name))) return null
  const switches = {
    kinds: faultKinds.filter((kind) => !off.has(kind)),
    hasPrepared: !off.has('prepared-transactions'),
    hasAsynchronous: !off.has('asynchronous-publishers'),
    hasMonthEdge: !off.has('month-edge'),
    hasBroker: true,
    leftOut: names.filter((name) => name !== 'broker').map((name) => ({ name, why: switchedOff })),
  }
  return off.has('broker') ? withoutBroker(switches, switchedOff) : switches
}

export function withoutBroker(switches: Switches, why: string): Switches {
  return {
    ...switches,
    hasBroker: false,
    kinds: switches.kinds.filter((kind) => kind !== 'kill-broker'),
    leftOut: [...switches.leftOut, { name: 'broker', why }],
  }
}
