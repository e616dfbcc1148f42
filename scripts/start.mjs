// `npm start`: builds if sources have changed, then runs the CLI in this process, so that signals reach it directly.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const built = spawnSync(process.execPath, [fileURLToPath(new URL('./build.mjs', import.meta.url))], {
  stdio: 'inherit',
})
if (built.status !== 0) process.exit(built.status ?? 1)
await import('../dist/cli/main.js')
