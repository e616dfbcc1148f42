import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { clusterFiles } from '../../../src/postgres/embedded/cluster.ts'

const run = promisify(execFile)

/**
 * Copies the data of a running server, as a backup that a standby can start from. The embedded server comes without `pg_basebackup`: this is
 * the low-level backup of the PostgreSQL manual, and the files may change while they are copied.
 */
export async function copyCluster(url: string, fromDataDir: string, toDataDir: string): Promise<void> {
  const from = clusterFiles(fromDataDir)
  const to = clusterFiles(toDataDir)
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', fast => true)`)
    await copyChangingFiles(from.pgData, to.pgData)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    for (const name of ['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot', 'pg_dynshmem'])
      await rm(join(to.pgData, name), { recursive: true, force: true })
    for (const name of ['pg_wal/archive_status', 'pg_wal/summaries', 'pg_replslot', 'pg_dynshmem'])
      await mkdir(join(to.pgData, name), { recursive: true })
    await writeFile(join(to.pgData, 'backup_label'), rows[0]?.labelfile ?? '')
    await writeFile(join(to.pgData, 'standby.signal'), '')
  } finally {
    await client.end()
  }
  await copyFile(from.passwordFile, to.passwordFile)
}

/** Files that vanish meanwhile are expected: what they held is in the write-ahead log. */
async function copyChangingFiles(from: string, to: string): Promise<void> {
  await run('cp', ['-R', from, to]).catch((error: { stderr?: string }) => {
    const complaints = (error.stderr ?? 'cp failed').trim().split('\n')
    const other = complaints.filter((line) => !line.includes('No such file or directory'))
    if (other.length > 0) throw new Error(other.join('\n'), { cause: error })
  })
}
