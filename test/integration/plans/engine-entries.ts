import type { PlanEntry } from './entry.ts'

/** What nodes, workers and publishers repeat. */
export const engineEntries: readonly PlanEntry[] = []
