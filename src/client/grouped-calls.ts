import { type Operations, operations } from '../contract/operations.ts'
import type { CallsOf, PlainCall, PlainInput } from './call-input.ts'

/** Every operation of the contract by group and name: `endpoints.pause({ params: { name } })`. */
export type GroupedCalls = CallsOf<Operations>

export function groupCalls(call: PlainCall): GroupedCalls {
  const groups: Record<string, Record<string, unknown>> = {}
  for (const [group, described] of Object.entries(operations)) {
    groups[group] = Object.fromEntries(
      Object.entries(described).map(([name, operation]) => [
        name,
        (input: PlainInput = {}) => call(operation, input),
      ]),
    )
  }
  return groups as unknown as GroupedCalls
}
