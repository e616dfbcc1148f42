import { readFile } from 'node:fs/promises'
import type { Client, PoolClient } from 'pg'
import { namesInTypeScript } from './callers.ts'

const folder = new URL('.', import.meta.url)

/** The schema that the files of `src/sql` create, as committed text. */
export interface SchemaDescription {
  readonly dump: readonly string[]
  /** What users may rely on: the functions and views of the schema holdfast. */
  readonly promisedToUsers: readonly string[]
  /** What nodes, workers and SDKs of this version call, and still call after the schema has been upgraded. */
  readonly promisedToNodes: readonly string[]
  /** Every callable function and view, promised or not. */
  readonly signatures: readonly string[]
}

/** @param client In a migrated database; its search path is changed. */
export async function describeSchema(client: Client | PoolClient, root: string): Promise<SchemaDescription> {
  // Names are printed with their schema unless the search path contains it.
  await client.query('set search_path = pg_catalog')
  const dump = await client.query<{ line: string }>(await readFile(new URL('dump.sql', folder), 'utf8'))
  const { rows: all } = await client.query<{ name: string; signature: string }>(
    await readFile(new URL('signatures.sql', folder), 'utf8'),
  )
  const called = await namesInTypeScript(root)
  const signatures = (isWanted: (name: string) => boolean) =>
    all
      .filter(({ name }) => isWanted(name))
      .map(({ signature }) => signature)
      .sort()
  return {
    dump: dump.rows.map(({ line }) => line),
    promisedToUsers: signatures((name) => name.startsWith('holdfast.')),
    promisedToNodes: signatures((name) => name.startsWith('holdfast_internal.') && called.has(name)),
    signatures: signatures(() => true),
  }
}
