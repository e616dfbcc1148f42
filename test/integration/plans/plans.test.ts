import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import type { Database } from '../../../src/storage/database.ts'
import { brokerEntries } from './broker-entries.ts'
import { bulkEntries } from './bulk-entries.ts'
import { engineEntries } from './engine-entries.ts'
import type { PlanEntry } from './entry.ts'
import { exemptions } from './exemptions.ts'
import { judgePlans, type LeadingColumns } from './judge-plans.ts'
import { operatorEntries } from './operator-entries.ts'
import { pageEntries } from './page-entries.ts'
import { PlanLab } from './plan-lab.ts'
import { sourceEntries } from './source-entries.ts'
import { upkeepEntries } from './upkeep-entries.ts'

/** 20,000 make 200,000 attempts. `HOLDFAST_PLAN_EVENTS=1000000` asks the question at full size. */
const events = Number(process.env['HOLDFAST_PLAN_EVENTS'] ?? 20_000)
const endpoints = Math.min(10_000, events / 10)
const entries: readonly PlanEntry[] = [
  ...[...pageEntries, ...operatorEntries, ...bulkEntries, ...sourceEntries].map(
    (entry): PlanEntry => ({ connection: 'api', ...entry }),
  ),
  ...engineEntries,
  ...brokerEntries,
  ...upkeepEntries,
]
const kindOf = ({ connection = 'node' }: PlanEntry) => connection

const nameOf = ({ of, what }: PlanEntry) => (what === undefined ? of : `${of}: ${what}`)

describe('every statement that is repeated', () => {
  let lab: PlanLab
  let dataset: Dataset
  let leadingColumns: LeadingColumns

  beforeAll(async () => {
    lab = await PlanLab.open()
    dataset = await lab.define({ events, endpoints })
    leadingColumns = await lab.leadingColumns()
    // Plans are made now, for tables in which there is nothing, and kept. Some calls find nothing to work on and say so.
    for (const entry of entries) await entry.run(lab.database(kindOf(entry)), dataset).catch(() => {})
    await lab.fill(dataset)
  }, 600_000)

  afterAll(async () => lab.close())

  it.for(entries)('$of $what reads what it returns, not what is stored', async (entry) => {
    const { result: returned, plans } = await lab.watch(kindOf(entry), (database) =>
      entry.run(database, dataset),
    )
    expect(plans.length, `${nameOf(entry)} ran no statement`).toBeGreaterThan(0)
    expect(judgePlans(plans, { returned, rows: entry.bound?.rows ?? 0 }, leadingColumns)).toEqual([])
  })

  describe('and the judge', () => {
    const asIs = (text: string) => (database: Database) =>
      database.query({ name: `lab_${text.length}`, text }, [])
    const judge = async (text: string, returned = 50) => {
      const { plans } = await lab.watch('application', asIs(text))
      return judgePlans(plans, { returned, rows: 0 }, leadingColumns).join('\n')
    }

    it('refuses a sequential scan', async () => {
      expect(await judge('select count(*) from holdfast_internal.dead_letters where error is null')).toMatch(
        /Seq Scan.* on dead_letters/,
      )
    })

    it('refuses a sort of everything', async () => {
      expect(await judge('select id from holdfast_internal.deliveries order by size limit 50')).toMatch(
        /^Sort took/m,
      )
    })

    it('refuses a bitmap of everything', async () => {
      const text =
        'set local enable_seqscan = off; set local enable_indexscan = off; set local enable_indexonlyscan = off'
      const { plans } = await lab.watch('application', (database) =>
        database.inTransaction(async (client) => {
          await client.query(text)
          await client.query('select id from holdfast_internal.deliveries where id > 0')
        }),
      )
      expect(judgePlans(plans, { returned: 50, rows: 0 }, leadingColumns).join('\n')).toMatch(
        /Bitmap Heap Scan/,
      )
    })

    it('refuses an index scan that finds nothing', async () => {
      const text = 'select id from holdfast_internal.deliveries where size < 0 order by id limit 50'
      expect(await judge(text, 0)).toMatch(/Index Scan.* took/)
    })

    it('refuses an index that is walked for its second column', async () => {
      const { plans } = await lab.watch('application', (database) =>
        database.inTransaction(async (client) => {
          await client.query('set local enable_seqscan = off; set local enable_bitmapscan = off')
          await client.query(`select from holdfast_internal.endpoint_secrets where field = 'nothing'`)
        }),
      )
      expect(judgePlans(plans, { returned: 0, rows: 0 }, leadingColumns).join('\n')).toMatch(
        /endpoint_secrets\w* on endpoint_secrets is walked from end to end for \(field = /,
      )
    })

    it('refuses a plan that a server would compile', async () => {
      const text =
        'select count(*) from generate_series(1, 2000) as one cross join generate_series(1, 10000) as other where one + other = 0'
      expect(await judge(text)).toMatch(/it would be compiled/)
    })

    it('sees what functions run', async () => {
      const { plans } = await lab.watch(
        'api',
        asIs(`do $$ begin perform count(*) from holdfast_internal.runs where attempt = 7; end $$`),
      )
      expect(judgePlans(plans, { returned: 0, rows: 0 }, leadingColumns).join('\n')).toMatch(
        /Seq Scan.* on runs/,
      )
    })
  })
})

describe('every function of src/storage', async () => {
  const folder = fileURLToPath(new URL('../../../src/storage/', import.meta.url))
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const functions: string[] = []
  for (const file of files) {
    const module = (await import(`${folder}${file}`)) as Record<string, unknown>
    for (const [name, value] of Object.entries(module)) {
      // Constants and classes hold no statement that is sent by itself.
      if (typeof value === 'function' && !/^class\b/.test(String(value)))
        functions.push(`${file.replace('.ts', '')}#${name}`)
    }
  }

  it('has an entry that shows its plan, or says why it needs none', () => {
    const known = new Set([...entries.map(({ of }) => of), ...Object.keys(exemptions)])
    expect(functions.filter((name) => !known.has(name))).toEqual([])
  })

  it('has only entries and exemptions of functions that exist', () => {
    const existing = new Set(functions)
    expect(
      [...entries.map(({ of }) => of), ...Object.keys(exemptions)].filter((name) => !existing.has(name)),
    ).toEqual([])
  })

  it('has no entry where an exemption says that it needs none', () => {
    expect(entries.map(({ of }) => of).filter((name) => name in exemptions)).toEqual([])
  })
})
