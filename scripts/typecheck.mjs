// `npm run typecheck`: the sources for Node.js, then those for the browser, which have another library and other packages.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasDashboardPackages } from './dashboard-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const check = (project) =>
  spawnSync(process.execPath, [compiler, '--noEmit', '-p', join(root, project)], {
    stdio: 'inherit',
    cwd: root,
  }).status ?? 1

let failed = check('tsconfig.json')
if (hasDashboardPackages(root)) failed ||= check(join('dashboard', 'tsconfig.json'))
else process.stderr.write("Skipped the dashboard's types: its packages aren't installed. Run npm ci.\n")
process.exit(failed)
