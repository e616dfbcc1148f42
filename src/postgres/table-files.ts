import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HoldfastError } from '../core/errors.ts'

/** One file of `src/sql/tables`: a forward-only change of the tables. */
export interface Migration {
  readonly number: number
  /** The file's name without its extension: `0001-baseline`. */
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/** `src/sql/tables` beside the sources, `dist/sql/tables` beside the build. */
export const defaultTablesDir = fileURLToPath(new URL('../sql/tables', import.meta.url))

const fileNamePattern = /^(\d{4})-[a-z0-9][a-z0-9-]*\.sql$/

/** The migrations of a folder in order, numbered 1, 2, 3 … without a gap. */
export async function readMigrations(folder: string = defaultTablesDir): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const file of files) {
    const digits = fileNamePattern.exec(file)?.[1]
    const expected = migrations.length + 1
    if (digits === undefined || Number(digits) !== expected) {
      const wanted = `${String(expected).padStart(4, '0')}-<name>.sql`
      throw new HoldfastError(
        'configuration_invalid',
        `The migration file ${file} is out of order: the next one must be called ${wanted}. Rename it.`,
        { file, folder },
      )
    }
    // Git may check out files with CRLF: the same migration must have the same checksum everywhere.
    const sql = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n')
    const checksum = createHash('sha256').update(sql).digest('hex')
    migrations.push({ number: expected, name: file.slice(0, -'.sql'.length), sql, checksum })
  }
  return migrations
}
