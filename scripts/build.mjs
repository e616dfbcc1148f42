// Compiles src to dist and copies the SQL and the pages' assets beside it. Does nothing when dist is newer than every source.
// The new dist is made beside the old one and put in its place whole: a command that runs meanwhile never sees half of it.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamp = join(root, 'dist', '.built')

function newestMtimeMs(folder) {
  let newest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith('.test.ts')) continue
    newest = Math.max(newest, statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs)
  }
  return newest
}

function replaceDist(unfinished) {
  const dist = join(root, 'dist')
  const old = join(root, `dist.old-${process.pid}`)
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(unfinished, dist)
  rmSync(old, { recursive: true, force: true })
}

const startedAt = new Date()
const newestSourceMs = Math.max(
  newestMtimeMs(join(root, 'src')),
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']
    .filter((file) => existsSync(join(root, file)))
    .map((file) => statSync(join(root, file)).mtimeMs),
)
const isFresh = existsSync(stamp) && statSync(stamp).mtimeMs >= newestSourceMs
if (!isFresh || process.argv.includes('--force')) {
  const unfinished = join(root, `dist.new-${process.pid}`)
  rmSync(unfinished, { recursive: true, force: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const project = join(root, 'tsconfig.build.json')
  const compiled = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', unfinished], {
    stdio: ['ignore', 2, 2],
    cwd: root,
  })
  if (compiled.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true })
    process.exit(compiled.status ?? 1)
  }
  cpSync(join(root, 'src', 'sql'), join(unfinished, 'sql'), { recursive: true })
  const assets = join('api', 'pages', 'assets')
  cpSync(join(root, 'src', assets), join(unfinished, assets), { recursive: true })
  const bin = join(unfinished, 'cli', 'main.js')
  if (existsSync(bin)) chmodSync(bin, 0o755)
  writeFileSync(join(unfinished, '.built'), '')
  // A source saved while the compiler ran is newer than this stamp, and so built next time.
  utimesSync(join(unfinished, '.built'), startedAt, startedAt)
  replaceDist(unfinished)
}
