// Compiles src to dist and copies the SQL beside it. Does nothing when dist is newer than every source.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

const newestSourceMs = Math.max(
  newestMtimeMs(join(root, 'src')),
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']
    .filter((file) => existsSync(join(root, file)))
    .map((file) => statSync(join(root, file)).mtimeMs),
)
const isFresh = existsSync(stamp) && statSync(stamp).mtimeMs >= newestSourceMs
if (!isFresh || process.argv.includes('--force')) {
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const compiled = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', join(root, 'tsconfig.build.json')],
    { stdio: ['ignore', 2, 2], cwd: root },
  )
  if (compiled.status !== 0) process.exit(compiled.status ?? 1)
  cpSync(join(root, 'src', 'sql'), join(root, 'dist', 'sql'), { recursive: true })
  const bin = join(root, 'dist', 'cli', 'main.js')
  if (existsSync(bin)) chmodSync(bin, 0o755)
  writeFileSync(stamp, '')
}
