import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const program = at('../dist/cli/main.js')
/** In a clone this builds what is stale; the package comes built. */
const starter = existsSync(at('../scripts/start.mjs')) ? at('../scripts/start.mjs') : program

/**
 * Starts `holdfast dev` with a PostgreSQL, a data folder and a port of its own, whatever else is configured on this machine. `stop` removes all of it.
 * After it has returned, the package is built, and `import('holdfast')` works in a clone, too.
 */
export async function startHoldfast(variables = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  const dataDir = join(folder, 'data')
  const env = {
    ...Object.fromEntries(own),
    HOLDFAST_DATA_DIR: dataDir,
    HOLDFAST_PORT: '0',
    XDG_CONFIG_HOME: folder,
    ...variables,
  }
  if (!existsSync(program))
    process.stderr.write('Building Holdfast; only the first time. About half a minute …\n')
  const server = spawn(process.execPath, [starter, 'dev'], {
    env,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const children = [server]
  // Also after an error.
  process.once('exit', () => children.forEach((child) => child.kill()))
  let complaint = ''
  server.stderr.setEncoding('utf8').on('data', (text) => (complaint = (complaint + text).slice(-2000)))
  const ended = new Promise((resolve) => server.once('exit', resolve))
  let stopped
  const stopOnce = async () => {
    server.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const stop = () => (stopped ??= stopOnce())
  // Ctrl-C and the like: what was started ends, and its folder goes. What the example was doing fails then, which isn't worth a word.
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      process.on('uncaughtException', () => {})
      void stop().finally(() => process.exit(1))
    })
  let state = null
  while (state === null) {
    if (server.exitCode !== null && stopped === undefined)
      throw new Error(`holdfast dev did not start: ${complaint}`)
    await wait(100)
    state = await readFile(join(dataDir, 'dev.json'), 'utf8').then(JSON.parse, () => null)
  }
  return {
    url: state.apiUrl,
    apiKey: state.apiKey,
    databaseUrl: (await readFile(join(dataDir, 'database-url'), 'utf8')).trim(),
    encryptionKeyFile: join(dataDir, 'encryption-key'),
    /** A temporary folder. */
    folder,
    /** Runs a command against it, and returns what it prints. */
    run: async (...args) =>
      (await promisify(execFile)(process.execPath, [program, ...args], { env, cwd: folder })).stdout,
    /** Starts a command that goes on, like `worker`. */
    spawn: (...args) => {
      const stdio = 'ignore'
      const child = spawn(process.execPath, [program, ...args], { env, cwd: folder, stdio })
      children.push(child)
      return child
    },
    stop,
  }
}
