import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import type { TestDatabase } from './test-database.ts'

/** A login role for one test, and a pool that is logged in as it. Roles belong to the server: `drop` takes it away again. */
export interface DatabaseRole {
  readonly name: string
  readonly url: string
  readonly pool: Pool
  drop(): Promise<void>
}

export async function createRole(
  database: TestDatabase,
  { kind, attributes = '' }: { readonly kind: string; readonly attributes?: string },
): Promise<DatabaseRole> {
  const name = `holdfast_test_${kind}_${process.pid}_${randomBytes(3).toString('hex')}`
  const password = randomBytes(9).toString('hex')
  await database.pool.query(`create role ${name} login password '${password}' ${attributes}`)
  const url = new URL(database.url)
  url.username = name
  url.password = password
  const pool = new Pool({ connectionString: url.href, max: 4 })
  return {
    name,
    url: url.href,
    pool,
    drop: async () => {
      await pool.end()
      await database.pool.query(`drop owned by ${name} cascade; drop role ${name}`)
    },
  }
}
