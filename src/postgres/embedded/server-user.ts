import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** The account that runs PostgreSQL, which refuses to run as root. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/** By convention `nobody` on every Unix: the last 16-bit id but one. */
const nobody: ServerUser = { uid: 65_534, gid: 65_534 }

/** The account to drop to; null if we aren't root and run the server as ourselves. */
export async function findServerUser(dataDir: string): Promise<ServerUser | null> {
  if (process.getuid?.() !== 0) return null
  // The data keeps its owner: an account that is created later does not take it over.
  const owner = await stat(dataDir).catch(() => null)
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return findAccount(accounts, 'postgres') ?? findAccount(accounts, 'nobody') ?? nobody
}

function findAccount(accounts: string, name: string): ServerUser | null {
  const fields = accounts
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
    ?.split(':')
  const uid = Number(fields?.[2])
  const gid = Number(fields?.[3])
  return Number.isInteger(uid) && Number.isInteger(gid) && uid > 0 ? { uid, gid } : null
}

/**
 * Whether the account may pass through every folder of the path and read its target. Judged by mode bits,
 * because the account starts without supplementary groups.
 */
export async function canReach(path: string, user: ServerUser | null): Promise<boolean> {
  if (user === null) return true
  for (let current = resolve(path); ; current = dirname(current)) {
    const { uid, gid, mode } = await stat(current)
    const bits = uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode
    const wanted = current === resolve(path) ? 0o5 : 0o1
    if ((bits & wanted) !== wanted) return false
    if (current === dirname(current)) return true
  }
}
