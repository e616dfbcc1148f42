import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const maxArchiveBytes = 64 * 1024 * 1024

const maxCommits = 20

/** The newest commit whose schema is older than this one's and could be deployed: what a deployment upgrades from. Null in a clone that is too shallow to have it. */
export async function findPreviousCommit(): Promise<string | null> {
  try {
    // Of a merge, what it was merged into: the other side may have had the same schema already.
    const changes = await git('log', '--first-parent', `-${maxCommits}`, '--format=%H', '--', 'src/sql')
    for (const commit of changes.split('\n')) {
      const parent = await git('rev-parse', '--verify', '--quiet', `${commit}^`)
      if ((await hasOtherSchema(parent)) && (await isInOrder(parent))) return parent
    }
    return null
  } catch {
    return null
  }
}

async function hasOtherSchema(commit: string): Promise<boolean> {
  const sources = ['src/sql/tables/*.sql', 'src/sql/functions/*.sql']
  return (await git('diff', '--name-only', commit, 'HEAD', '--', ...sources)) !== ''
}

/** Inside a series of commits two table files may have one number; no such commit was ever released. */
async function isInOrder(commit: string): Promise<boolean> {
  const files = await git('ls-tree', '--name-only', commit, 'src/sql/tables/')
  return files.split('\n').every((file, index) => Number.parseInt(basename(file), 10) === index + 1)
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: root })).stdout.trim()
}

/** A checkout of a commit with what it compiles to, without the dashboard, on the packages that are installed here. */
export class PreviousBuild {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async of(commit: string): Promise<PreviousBuild> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-previous-'))
    const build = new PreviousBuild(folder)
    try {
      const paths = ['src', 'test/support/processes', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
      const { stdout } = await run('git', ['archive', '--format=tar', commit, ...paths], {
        cwd: root,
        encoding: 'buffer',
        maxBuffer: maxArchiveBytes,
      })
      await writeFile(join(folder, 'sources.tar'), stdout)
      await run('tar', ['-xf', 'sources.tar'], { cwd: folder })
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
      // Types may have moved with a package since; what runs is what counts.
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
      await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck', '--declaration', 'false'], {
        cwd: folder,
      })
      await cp(join(folder, 'src', 'sql'), join(folder, 'dist', 'sql'), { recursive: true })
      await cp(join(folder, 'src/api/pages/assets'), join(folder, 'dist/api/pages/assets'), {
        recursive: true,
      })
      return build
    } catch (error) {
      await build[Symbol.asyncDispose]()
      throw error
    }
  }

  async cli(args: readonly string[], databaseUrl: string): Promise<string> {
    const env = { ...process.env, HOLDFAST_DATABASE_URL: databaseUrl }
    const main = join(this.folder, 'dist', 'cli', 'main.js')
    return (await run(process.execPath, [main, ...args], { cwd: this.folder, env })).stdout
  }

  /** Whether no table file was added since. */
  async hasAllTables(): Promise<boolean> {
    const tables = join('src', 'sql', 'tables')
    const [then, now] = await Promise.all([readdir(join(this.folder, tables)), readdir(join(root, tables))])
    return then.length === now.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
