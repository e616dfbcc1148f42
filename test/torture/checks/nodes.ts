import type { Check } from '../evidence.ts'
import { whyLeftOut } from './nothing-lost.ts'

export const stopsAreClean: Check = ({ fleet }) => ({
  row: '10 a stop signal ends a node cleanly',
  checked: fleet.stops,
  violations: fleet.badStops,
})

export const nodesSurvive: Check = ({ fleet }) => ({
  row: 'no node ends by itself',
  checked: fleet.starts,
  violations: fleet.crashes,
})

/** A fault that was planned and found nobody to hit would let the other rows look better than they are. */
export const everyFaultStruck: Check = ({ fleet, plannedKinds, leftOut }) => {
  const struck = new Set(fleet.struck.map(({ kind }) => kind))
  const names = leftOut.map(({ name, why }) => `${name}: ${why}`)
  return {
    row: `every kind of fault struck${names.length > 0 ? ` (without ${names.join('; ')})` : ''}`,
    checked: fleet.struck.length,
    violations: plannedKinds
      .filter((kind) => !struck.has(kind))
      .map((kind) => `${kind} was never carried out`),
  }
}

/** A month ends during the run: messages go on into the next partition, and none falls into the default one. */
export const monthsEndQuietly: Check = ({ month, leftOut }) => {
  const months = month.messages.filter(({ partition }) => !partition.endsWith('_default'))
  const stray = month.messages.filter(({ partition }) => partition.endsWith('_default'))
  const why = whyLeftOut(leftOut, 'month-edge')
  return {
    row: `a month ends quietly (${months.map(({ rows }) => rows).join(' + ')} messages)`,
    checked: months.length < 2 ? 0 : Math.min(...months.map(({ rows }) => rows)),
    violations: stray.map(({ partition, rows }) => `${rows} messages are in ${partition}`),
    ...(why !== undefined && { unjudged: why }),
  }
}
