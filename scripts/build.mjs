// Compiles src to dist, builds the dashboard into dist/dashboard at the same time, and copies the SQL and the pages' assets. Does nothing if dist is
// newer than every source. The new dist is created beside the old one and then replaces it, so that a command that runs meanwhile never sees a
// partial build.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasDashboardPackages } from './dashboard-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stampName = '.built'

function newestMtimeMs(folder) {
  let newest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || /\.test\.tsx?$/.test(entry.name)) continue
    newest = Math.max(newest, statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs)
  }
  return newest
}

function newestOf(folders, files) {
  return Math.max(
    ...folders.map((folder) => newestMtimeMs(join(root, folder))),
    ...files.filter((file) => existsSync(join(root, file))).map((file) => statSync(join(root, file)).mtimeMs),
  )
}

function isNewerThan(stamp, sourceMs) {
  return existsSync(stamp) && statSync(stamp).mtimeMs >= sourceMs
}

/** A source that is saved during the build is newer than this stamp, so the next call builds again. */
function writeStamp(folder, at) {
  writeFileSync(join(folder, stampName), '')
  utimesSync(join(folder, stampName), at, at)
}

async function run(script, ...args) {
  const child = spawn(process.execPath, [join(root, 'node_modules', script), ...args], {
    stdio: ['ignore', 2, 2],
    cwd: root,
    // NODE_ENV of a shell or a test runner would put React's development version, a third larger, into the dashboard.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [exitCode] = await once(child, 'exit')
  return exitCode === 0
}

function replaceDist(unfinished) {
  const dist = join(root, 'dist')
  const old = join(root, `dist.old-${process.pid}`)
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(unfinished, dist)
  rmSync(old, { recursive: true, force: true })
}

/** Reuses the dashboard of the previous build if none of its sources changed. False if the build failed. */
async function buildDashboard(target, isStale, at) {
  const built = join(root, 'dist', 'dashboard')
  if (!isStale) {
    cpSync(built, target, { recursive: true, preserveTimestamps: true })
    return true
  }
  if (!hasDashboardPackages(root)) {
    process.stderr.write(
      "Built without the dashboard: its packages aren't installed. Run npm ci, then build again.\n",
    )
    return !process.argv.includes('--complete')
  }
  const isBuilt = await run(
    join('vite', 'bin', 'vite.js'),
    'build',
    join(root, 'dashboard'),
    '--outDir',
    target,
    '--logLevel',
    'warn',
  )
  if (!isBuilt) return false
  addStyleNotice(target)
  writeStamp(target, at)
  return true
}

/** Vite collects the licences of bundled modules; Tailwind's styles don't come from a module. */
function addStyleNotice(target) {
  const folder = join(root, 'node_modules', 'tailwindcss')
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = readFileSync(join(folder, 'LICENSE'), 'utf8').trim()
  appendFileSync(
    join(target, 'THIRD-PARTY-NOTICES.md'),
    `\n## tailwindcss - ${version} (${license})\n\n${text}\n`,
  )
}

const startedAt = new Date()
const manifests = ['package.json', 'package-lock.json', 'tsconfig.json']
const newestSourceMs = newestOf(['src'], [...manifests, 'tsconfig.build.json'])
// The dashboard uses only pure functions of src/core; everything else it imports from src is types.
const newestDashboardMs = newestOf(
  ['dashboard', join('src', 'core')],
  [...manifests, join('scripts', 'build.mjs')],
)
const isStale = !isNewerThan(join(root, 'dist', stampName), newestSourceMs)
const isDashboardStale = !isNewerThan(join(root, 'dist', 'dashboard', stampName), newestDashboardMs)
const isForced = process.argv.includes('--force')

if (isStale || isForced || (isDashboardStale && hasDashboardPackages(root))) {
  // After a fresh clone the build takes several seconds: say what happens.
  process.stderr.write('Building Holdfast …\n')
  const unfinished = join(root, `dist.new-${process.pid}`)
  rmSync(unfinished, { recursive: true, force: true })
  const results = await Promise.all([
    run(join('typescript', 'bin', 'tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', unfinished),
    buildDashboard(join(unfinished, 'dashboard'), isDashboardStale || isForced, startedAt),
  ])
  if (results.includes(false)) {
    rmSync(unfinished, { recursive: true, force: true })
    process.exit(1)
  }
  cpSync(join(root, 'src', 'sql'), join(unfinished, 'sql'), { recursive: true })
  const assets = join('api', 'pages', 'assets')
  cpSync(join(root, 'src', assets), join(unfinished, assets), { recursive: true })
  const bin = join(unfinished, 'cli', 'main.js')
  if (existsSync(bin)) chmodSync(bin, 0o755)
  writeStamp(unfinished, startedAt)
  replaceDist(unfinished)
}
