import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFile,
  chmod,
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HoldfastError } from '../../core/errors.ts'
import { serverEnvironment } from './guard.ts'
import type { PlatformBinaries } from './platform-binaries.ts'
import { canReach, type ServerUser } from './server-user.ts'

const run = promisify(execFile)
const initTimeoutMs = 120_000

const settingsIncludes = "\ninclude 'holdfast.conf'\ninclude_if_exists 'local.conf'\n"

/** The name of the database, and of its user. */
export const clusterName = 'holdfast'

export interface ClusterFiles {
  readonly dataDir: string
  /** PostgreSQL's data directory. */
  readonly pgData: string
  readonly logFile: string
  readonly passwordFile: string
  readonly portFile: string
}

export function clusterFiles(dataDir: string): ClusterFiles {
  return {
    dataDir,
    pgData: join(dataDir, 'postgres'),
    logFile: join(dataDir, 'postgres.log'),
    passwordFile: join(dataDir, 'postgres.password'),
    portFile: join(dataDir, 'postgres.port'),
  }
}

/**
 * The path of `folder` for a program that runs as `user` in that folder. If the account may not pass through a parent folder (`/root`), Linux
 * still lets it use its working directory, which we enter before dropping root.
 */
export async function pathFor(folder: string, user: ServerUser | null): Promise<string> {
  if (await canReach(folder, user)) return folder
  if (process.platform === 'linux') return '/proc/self/cwd'
  throw new HoldfastError(
    'embedded_unavailable',
    `PostgreSQL can't run as root, and the account it runs as (uid ${user?.uid}) can't reach ${folder}. ` +
      'Set HOLDFAST_DATA_DIR to a folder that every account may pass through, or start Holdfast as an ordinary user.',
    { folder, uid: user?.uid },
  )
}

/** Makes the folder private, owned by the server's account. */
export async function claimFolder(folder: string, user: ServerUser | null): Promise<void> {
  await chmod(folder, 0o700)
  if (user === null) return
  const owner = await stat(folder)
  if (owner.uid !== user.uid || owner.gid !== user.gid) await chown(folder, user.uid, user.gid)
}

/** Creates the cluster unless it exists. It is created beside its place and then moved, so that a crash leaves no partial cluster. */
export async function ensureCluster(
  files: ClusterFiles,
  binaries: PlatformBinaries,
  user: ServerUser | null,
): Promise<{ password: string; isNew: boolean }> {
  const unfinishedPrefix = 'postgres-unfinished-'
  for (const name of await readdir(files.dataDir)) {
    if (name.startsWith(unfinishedPrefix))
      await rm(join(files.dataDir, name), { recursive: true, force: true })
  }
  if ((await readMajorVersion(files.pgData)) !== null) {
    await claimRecursively(files.pgData, user)
    return { password: await readPassword(files), isNew: false }
  }
  const password = randomBytes(24).toString('base64url')
  const unfinished = join(files.dataDir, `${unfinishedPrefix}${randomBytes(4).toString('hex')}`)
  try {
    const cluster = await initialise(unfinished, password, binaries, user)
    await writePrivateFile(files.passwordFile, password)
    await rename(cluster, files.pgData)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return { password, isNew: true }
}

async function initialise(
  folder: string,
  password: string,
  binaries: PlatformBinaries,
  user: ServerUser | null,
): Promise<string> {
  const cluster = join(folder, 'cluster')
  const passwordFile = join(folder, 'password')
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  await writePrivateFile(passwordFile, password)
  for (const path of [folder, cluster, passwordFile]) {
    if (user !== null) await chown(path, user.uid, user.gid)
  }
  const pgData = await pathFor(cluster, user)
  // The builtin provider sorts the same on all platforms and needs no locale of the operating system.
  const args = [
    `--pgdata=${pgData}`,
    `--username=${clusterName}`,
    `--pwfile=${pgData}/../password`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]
  try {
    await run(binaries.initdb, args, {
      cwd: cluster,
      env: serverEnvironment(),
      timeout: initTimeoutMs,
      ...user,
    })
  } catch (error) {
    throw startFailure(
      'The embedded PostgreSQL could not create its data',
      (error as { stderr?: string }).stderr ?? '',
      error,
    )
  }
  await appendFile(join(cluster, 'postgresql.conf'), settingsIncludes)
  await writeFile(
    join(cluster, 'local.conf'),
    '# Your own settings; they win over those of holdfast.conf.\n',
    { mode: 0o600 },
  )
  if (user !== null) await chown(join(cluster, 'local.conf'), user.uid, user.gid)
  return cluster
}

/** Replaces the file atomically, readable by its owner only. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}.new`
  await writeFile(unfinished, text, { mode: 0o600 })
  await rename(unfinished, path)
}

async function readMajorVersion(pgData: string): Promise<string | null> {
  const text = await readFile(join(pgData, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? null : text.trim()
}

async function readPassword(files: ClusterFiles): Promise<string> {
  try {
    return (await readFile(files.passwordFile, 'utf8')).trim()
  } catch (error) {
    throw new HoldfastError(
      'embedded_unavailable',
      `The password of the embedded PostgreSQL is missing: ${files.passwordFile}. Restore that file beside its data.`,
      { passwordFile: files.passwordFile },
      error,
    )
  }
}

/** A folder that root copied or restored belongs to root; the server refuses a folder that it doesn't own. */
async function claimRecursively(folder: string, user: ServerUser | null): Promise<void> {
  await chmod(folder, 0o700)
  if (user === null || (await stat(folder)).uid === user.uid) return
  const paths = await readdir(folder, { recursive: true })
  for (const path of paths) await lchown(join(folder, path), user.uid, user.gid)
  await lchown(folder, user.uid, user.gid)
}

const advice: readonly (readonly [RegExp, string])[] = [
  [/No space left on device|Disk quota exceeded/, 'The disk is full: free some space and start again.'],
  [/Address already in use/, 'Its port is in use: stop the program that has it, or choose another port.'],
  [
    /shared memory segment|Cannot allocate memory/,
    'There is too little memory: free some, or lower shared_buffers in local.conf.',
  ],
  [
    /initialized by PostgreSQL version/,
    'The data was created by another major version: dump it with that version and restore it here.',
  ],
  [
    /error while loading shared libraries|Library not loaded|GLIBC/,
    'This system lacks a library: set HOLDFAST_DATABASE_URL to a PostgreSQL server instead.',
  ],
  [/Read-only file system/, 'The file system is read-only: choose another HOLDFAST_DATA_DIR.'],
  [
    /Permission denied/,
    'It lacks permission to read or write there: check the owner and mode of the folder.',
  ],
]

/** An error with the server's last output, and what to do about the usual causes. */
export function startFailure(what: string, output: string, cause?: unknown): HoldfastError {
  const hint = advice.find(([pattern]) => pattern.test(output))?.[1]
  const lines = output.trim()
  const text = [hint === undefined ? `${what}.` : `${what}. ${hint}`, lines]
    .filter((part) => part !== '')
    .join('\n')
  return new HoldfastError('embedded_unavailable', text, { output: lines }, cause)
}
