/** A node of a plan as auto_explain writes it, with what it really did. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Parent Relationship'?: string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly 'Total Cost'?: number
  readonly Plans?: readonly PlanNode[]
}

/** One statement that ran, also inside a function. */
export interface RecordedPlan {
  readonly text: string
  readonly plan: PlanNode
  /** Those that differ from a server's defaults. */
  readonly settings: Readonly<Record<string, string>>
}

export interface Allowance {
  /** What the caller got: rows read ÷ rows returned may be 4 at each node. */
  readonly returned: number
  /** What a statement may read whatever it returns, for those that look at a bounded number. The entry says why. */
  readonly rows: number
}

/** Small tables, and the few rows that any look-up reads. */
const floorRows = 400
const maxReadPerReturned = 4
/** A look-up reads some blocks of an index before it reads a row; a letter that changes has an entry in each of a dozen indexes. */
const floorBlocks = 2000
const maxBlocksPerRow = 20
/** Above this estimate a server compiles the plan, which takes a second for what takes a millisecond: `jit_above_cost`. */
const compiledAboveCost = 100_000

/** The first column of each index by the index's name. */
export type LeadingColumns = ReadonlyMap<string, string>

/** What is wrong with the plans: nothing when each node read no more than its allowance. */
export function judgePlans(
  plans: readonly RecordedPlan[],
  { returned, rows }: Allowance,
  leadingColumns: LeadingColumns,
): string[] {
  const allowed = Math.max(floorRows, rows) + maxReadPerReturned * returned
  const problems: string[] = []
  for (const { text, plan, settings } of plans) {
    const complain = (what: string) =>
      problems.push(`${what}\n    in: ${text.replaceAll(/\s+/g, ' ').trim().slice(0, 300)}`)
    for (const node of nodesOf(plan)) {
      const count = rowsInto(node)
      if (count > allowed) complain(`${describe(node)} took ${count} rows, ${allowed} are allowed`)
      if (walksIndex(node, leadingColumns)) {
        complain(`${describe(node)} is walked from end to end for ${node['Index Cond']}`)
      }
      if (ignoresStart(node, leadingColumns)) {
        complain(`${describe(node)} is walked from the first entry with this column: ${node['Index Cond']}`)
      }
    }
    if ((plan['Total Cost'] ?? 0) > compiledAboveCost && settings['jit'] !== 'off') {
      complain(`it would be compiled: it is believed to cost ${plan['Total Cost']}`)
    }
    const blocks = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
    const allowedBlocks = floorBlocks + maxBlocksPerRow * allowed
    if (blocks > allowedBlocks) complain(`${blocks} blocks were touched, ${allowedBlocks} are allowed`)
  }
  return problems
}

function describe(node: PlanNode): string {
  return [node['Node Type'], node['Index Name'], node['Relation Name'] && `on ${node['Relation Name']}`]
    .filter(Boolean)
    .join(' ')
}

/**
 * A condition that leaves out an index's first column is compared with every entry of the index, and with `= any (…)` once for each element. No
 * count of rows shows it.
 */
function walksIndex(node: PlanNode, leadingColumns: LeadingColumns): boolean {
  const column = leadingColumns.get(node['Index Name'] ?? '')
  const condition = node['Index Cond']
  if (column === undefined || condition === undefined) return false
  return !new RegExp(String.raw`\b${column}\b`).test(condition)
}

/**
 * With `lane_id = 7` beside `(lane_id, id) > (7, 1000)`, PostgreSQL starts the scan at the first entry of lane 7, not at 1000: it passes all entries in between, also those
 * of deleted rows, which no count of rows shows. With `lane_id <= 7` in place of the equality it starts at 1000.
 */
function ignoresStart(node: PlanNode, leadingColumns: LeadingColumns): boolean {
  const column = leadingColumns.get(node['Index Name'] ?? '')
  const condition = node['Index Cond']
  if (column === undefined || condition === undefined) return false
  return condition.includes(`ROW(${column}, `) && condition.includes(`(${column} = `)
}

/** How many rows went into a scan or a sort, over all its loops. PostgreSQL reports averages of a loop. */
function rowsInto(node: PlanNode): number {
  const loops = node['Actual Loops'] ?? 0
  const type = node['Node Type']
  if (type === 'Sort' || type === 'Incremental Sort') {
    // Its input alone: common table expressions of the statement may hang below the same node.
    const inputs = (node.Plans ?? []).filter((child) => child['Parent Relationship'] === 'Outer')
    return inputs.reduce((sum, child) => sum + (child['Actual Rows'] ?? 0) * (child['Actual Loops'] ?? 0), 0)
  }
  if (!type.endsWith('Scan') || node['Relation Name'] === undefined) {
    return type === 'Nested Loop' ? (node['Rows Removed by Join Filter'] ?? 0) * loops : 0
  }
  const read =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return Math.round(read * loops)
}

function* nodesOf(plan: PlanNode): Generator<PlanNode> {
  yield plan
  for (const child of plan.Plans ?? []) yield* nodesOf(child)
}
