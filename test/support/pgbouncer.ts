import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { findFreePort } from '../../src/postgres/embedded/free-port.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

/** Null: this machine has none. Debian puts it where only root looks. */
export const pgbouncerPath =
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => existsSync(path)) ?? null

/** A real PgBouncer on loopback, before one database. */
export class PgBouncer {
  readonly url: string
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url
    this.#child = child
    this.#folder = folder
  }

  static async start(databaseUrl: string, poolMode: PoolMode, settings = ''): Promise<PgBouncer> {
    if (pgbouncerPath === null) throw new Error('there is no pgbouncer on this machine')
    const server = new URL(databaseUrl)
    const database = server.pathname.slice(1)
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-pgbouncer-'))
    const port = await findFreePort(null)
    const target = [
      `host=${server.hostname} port=${server.port || 5432} dbname=${database}`,
      `user=${decodeURIComponent(server.username)}`,
      ...(server.password === '' ? [] : [`password=${decodeURIComponent(server.password)}`]),
    ]
    const file = join(folder, 'pgbouncer.ini')
    await writeFile(
      file,
      `[databases]
${database} = ${target.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = 20
max_client_conn = 200
${settings}
`,
    )
    const user = process.getuid?.() === 0 ? unprivileged() : null
    if (user !== null) for (const path of [folder, file]) await chown(path, user.uid, user.gid)
    await chmod(file, 0o600)
    const child = spawn(pgbouncerPath, [file], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    await untilListening(child)
    return new PgBouncer(`postgres://app@127.0.0.1:${port}/${database}`, child, folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await once(this.#child, 'exit')
    }
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** PgBouncer refuses to run as root. */
function unprivileged(): { uid: number; gid: number } {
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

async function untilListening(child: ChildProcess): Promise<void> {
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`pgbouncer ended: ${lines.join('\n')}`)))
    createInterface({ input: child.stderr! }).on('line', (line) => {
      lines.push(line)
      if (line.includes('process up')) resolve()
    })
  })
  child.removeAllListeners('exit')
}
