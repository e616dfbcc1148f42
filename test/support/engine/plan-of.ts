import type { Database } from '../../../src/storage/database.ts'
import type { Rig } from './rig.ts'

/** A node of a plan, as PostgreSQL tells it. */
export interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

/** Takes down what a storage function asks, and answers nothing. */
function recorder(asked: { text: string; values: readonly unknown[] }): Database {
  const record = async ({ text }: { readonly text: string }, values: readonly unknown[]) => {
    Object.assign(asked, { text, values })
    return []
  }
  return { query: record, queryArrays: record } as unknown as Database
}

/** How PostgreSQL carries out what a storage function asks: as a prepared statement, with a plan for all values or for these. */
export async function planOf(
  rig: Rig,
  ask: (database: Database) => Promise<unknown>,
  mode: 'custom' | 'generic',
): Promise<Plan> {
  const asked: { text: string; values: readonly unknown[] } = { text: '', values: [] }
  await ask(recorder(asked))
  const client = await rig.database.pool.connect()
  try {
    await client.query(`set plan_cache_mode = force_${mode}_plan`)
    await client.query(`prepare asked as ${asked.text}`)
    const literals = asked.values.map((value) =>
      client.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value)),
    )
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, buffers, format json) execute asked (${literals.join(', ')})`,
    )
    const [row] = rows
    if (row === undefined) throw new Error('there is no plan')
    return row['QUERY PLAN'][0].Plan
  } finally {
    client.release(true)
  }
}

export const buffersOf = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

export const partsOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(partsOf)]
