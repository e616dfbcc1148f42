import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import type { Database } from '../../../src/storage/database.ts'
import type { ConnectionKind } from './plan-lab.ts'

/** One way to call a function of src/storage, and how much it may read. */
export interface PlanEntry {
  /** `<file>#<function>` in src/storage. Several entries may have the same one. */
  readonly of: string
  /** What is asked, where a function has several entries. */
  readonly what?: string
  /** Left out: a node's. */
  readonly connection?: ConnectionKind
  /** Returns how many rows it got: a statement may read four times as many. Called once while the tables are empty, and once when they are full. */
  readonly run: (database: Database, dataset: Dataset) => Promise<number>
  /** What it may read whatever it returns, and why that doesn't grow with what is stored. */
  readonly bound?: { readonly rows: number; readonly why: string }
}
