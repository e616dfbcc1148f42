// `npm start`: builds if sources have changed, then runs the CLI in this process, so that signals reach it directly.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The build's tools don't load on an older Node.js, and the CLI's own check needs the build.
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const oldest = engines.node.replace(/^>=/, '')
const [major, minor] = process.versions.node.split('.').map(Number)
const [oldestMajor, oldestMinor] = oldest.split('.').map(Number)
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  process.stderr.write(
    `error  Holdfast needs Node.js ${oldest} or newer, and this is ${process.versions.node}. Install a newer one: https://nodejs.org/en/download\n`,
  )
  process.exit(2)
}

const built = spawnSync(process.execPath, [fileURLToPath(new URL('./build.mjs', import.meta.url))], {
  stdio: 'inherit',
})
if (built.status !== 0) process.exit(built.status ?? 1)
await import('../dist/cli/main.js')
