// Runs real commands against a real `holdfast dev` and writes what they print into docs/start.md, between its session markers.
// Usage: node scripts/record-session.mjs
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cli = join(root, 'dist', 'cli', 'main.js')
const page = join(root, 'docs', 'start.md')
const folder = mkdtempSync(join(tmpdir(), 'holdfast-session-'))
const deadlineMs = 60_000

const build = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' })
if (build.status !== 0) process.exit(build.status ?? 1)

const environment = {
  PATH: process.env['PATH'],
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  HOLDFAST_PORT: '0',
  NO_COLOR: '1',
}

/** Runs a command, and returns the output of both streams, as in a terminal. */
function run(command) {
  const shell = `holdfast() { ${JSON.stringify(process.execPath)} ${JSON.stringify(cli)} "$@"; }\n${command}`
  const { stdout } = spawnSync('bash', ['-c', `{ ${shell}\n} 2>&1`], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  })
  return stdout.trimEnd()
}

async function until(command, pattern) {
  const deadline = Date.now() + deadlineMs
  for (;;) {
    const output = run(command)
    if (pattern.test(output)) return
    if (Date.now() > deadline) throw new Error(`${command} never showed ${pattern}:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

async function startDev() {
  const dev = spawn(process.execPath, [cli, 'dev'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let printed = ''
  dev.stderr.setEncoding('utf8')
  for await (const text of dev.stderr) {
    printed += text
    if (/is running/.test(printed)) break
  }
  dev.stderr.resume()
  return { dev, inboxUrl: /inbox +(\S+)/.exec(printed)[1] }
}

const lines = []
function show(comment, command) {
  const output = run(command)
  if (/^error /m.test(output)) throw new Error(`${command}:\n${output}`)
  lines.push(`# ${comment}`, `$ ${command}`, ...(output === '' ? [] : [output]), '')
  return output
}

const { dev, inboxUrl } = await startDev()
try {
  show(
    'an endpoint where nothing listens yet, and a route to it',
    `holdfast endpoints create crm --url http://127.0.0.1:9009/hooks --preset development --event-type 'order.*' 2>&1 | grep -v secret`,
  )
  const published = show('publish an event', `holdfast events publish order.created '{"id":17,"total":250}'`)
  show('and four more', `holdfast events publish order.created '{"id":18,"total":90}' --count 4`)
  await until('holdfast endpoints show crm', /^circuit +open/m)
  show(
    'nothing is lost: after three failures the circuit is open, and all five deliveries wait',
    'holdfast endpoints list',
  )
  show(
    'a receiver that works: here the address of the inbox',
    `holdfast endpoints update crm --url ${inboxUrl}`,
  )
  show('send at once, without waiting for the cooldown', 'holdfast endpoints reset-circuit crm')
  const [id] = /msg_\w+/.exec(published)
  await until(`holdfast events show ${id}`, /succeeded.*\n.*succeeded|succeeded[\s\S]*crm|crm.*succeeded/)
  await until('holdfast endpoints list', /^crm +active +closed +0 /m)
  show('what became of the first event', `holdfast events show ${id} | tail -n +9`)
  show('what is worth keeping in git', 'holdfast export | head -n 16')
} finally {
  dev.kill('SIGTERM')
  await new Promise((resolve) => dev.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}

const start = '<!-- session:start -->'
const end = '<!-- session:end -->'
const text = readFileSync(page, 'utf8')
const [before, rest] = text.split(start)
if (rest === undefined || !rest.includes(end)) throw new Error(`docs/start.md has no ${start} … ${end}`)
const transcript = `${start}\n\`\`\`console\n${lines.join('\n').trimEnd()}\n\`\`\`\n`
writeFileSync(page, `${before}${transcript}${end}${rest.split(end)[1]}`)
