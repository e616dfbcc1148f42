import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, open, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { Stage } from '../support/processes/stage.ts'

const diskMegabytes = 160
const megabyte = 1024 * 1024

/** A file system of its own, small enough to be filled up; null where nobody may mount one. */
async function mountSmallDisk(): Promise<{ path: string; unmount(): Promise<void> } | null> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m,mode=0755`, 'tmpfs', path], {
      stdio: 'ignore',
    })
  } catch {
    await rm(path, { recursive: true })
    return null
  }
  return {
    path,
    unmount: async () => {
      execFileSync('umount', ['-l', path])
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Takes every byte that is left. */
async function fillUp(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (let size = megabyte; size >= 4096; size /= 2) {
      const block = Buffer.alloc(size, 1)
      let isFull = false
      while (!isFull) {
        try {
          isFull = (await handle.write(block)).bytesWritten < size
        } catch {
          isFull = true
        }
      }
    }
  } finally {
    await handle.close()
  }
}

/** The log of changes goes elsewhere: without room for that the whole server ends, which is another fault. */
async function moveWal(database: DatabaseProcess, to: string): Promise<void> {
  const wal = join(database.dataDir, 'postgres', 'pg_wal')
  await database.stop()
  await cp(wal, to, { recursive: true })
  execFileSync('chown', ['-R', `--reference=${wal}`, to])
  await rm(wal, { recursive: true })
  await symlink(to, wal)
  await database.restart()
}

test('a full disk refuses publishers clearly, and once there is room everything that was accepted is delivered', async ({
  skip,
}) => {
  const disk = await mountSmallDisk()
  if (disk === null) {
    skip('no file system can be mounted here')
    return
  }
  const walFolder = join(await mkdtemp(join(tmpdir(), 'holdfast-wal-')), 'pg_wal')
  execFileSync('chmod', ['755', join(walFolder, '..')])
  try {
    await using database = await DatabaseProcess.start(disk.path)
    await moveWal(database, walFolder)
    await using stage = await Stage.open(database.url)
    await stage.endpoint('hook')
    const [node] = await stage.startNodes(['only'])
    const accepted = await stage.publish('hook', 50)
    await stage.receiver.whenAccepted(accepted, 20_000)

    const ballast = join(disk.path, 'ballast')
    await fillUp(ballast)
    const refusal = await publishUntilRefused(stage, accepted)
    expect(refusal).toMatchObject({ code: 'disk_full', status: 503, isRetryable: true })
    // What was accepted goes out; its results find no room and wait.
    await stage.receiver.whenAccepted(accepted, 30_000)
    expect(node!.isRunning).toBe(true)

    await rm(ballast)
    accepted.push(...(await stage.publish('hook', 50)))
    await stage.receiver.whenAccepted(accepted, 30_000)
    await stage.settled()
    expect(node!.isRunning).toBe(true)
    const { rows } = await stage.pool.query(
      `select (select count(distinct delivery_id)::int from holdfast_internal.attempts where outcome = 1) as delivered,
              (select count(*)::int from holdfast_internal.dead_letters) as dead,
              (select count(*)::int from holdfast_internal.quarantine) as quarantined`,
    )
    expect(rows).toEqual([{ delivered: accepted.length, dead: 0, quarantined: 0 }])
  } finally {
    await disk.unmount()
    if (existsSync(walFolder)) await rm(join(walFolder, '..'), { recursive: true })
  }
})

async function publishUntilRefused(stage: Stage, accepted: string[]): Promise<unknown> {
  for (let round = 0; round < 2000; round++) {
    try {
      // Nothing that could be compressed.
      const { id } = await stage.publisher.send('hook', { text: randomBytes(12_000).toString('base64') })
      accepted.push(id)
    } catch (error) {
      return error
    }
  }
  throw new Error('the disk never got full')
}
