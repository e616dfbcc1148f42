import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { brokerUrl } from '../support/amqp/broker.ts'
import { runCli } from './cli-process.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(root, 'examples')
/** Those whose README says exactly what they print. What an example prints may depend on the machine, or need more than Node.js: it has tests of its own. */
const names = ['config-as-code', 'first-steps', 'jobs', 'learning', 'publish', 'shop']
/** Starts a PostgreSQL, maybe compiles: slow on a busy machine. */
const deadlineMs = 180_000

const readme = (name: string) => readFileSync(join(folder, name, 'README.md'), 'utf8')
const block = (text: string, language: string) =>
  new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1]

interface Promised {
  readonly command: readonly string[]
  /** Line by line; `…` stands for what differs from run to run. */
  readonly output: string
}

function promisedBy(name: string): Promised {
  const text = readme(name)
  return { command: block(text, '')?.trim().split(' ') ?? [], output: block(text, 'text') ?? '' }
}

async function run({ command }: Promised) {
  const [program, ...args] = command
  expect(program).toBe('node')
  const result = await runCli(args, { command: [process.execPath], cwd: root })
  return { ...result, stdout: result.stdout.replace(/msg_\w{11}/g, 'msg_…') }
}

test.each(names)(
  'the command of examples/%s prints what its README says',
  async (name) => {
    const promised = promisedBy(name)
    expect(await run(promised)).toEqual({ exitCode: 0, stdout: promised.output, stderr: '' })
  },
  deadlineMs,
)

test.skipIf(brokerUrl === null)(
  'the command of examples/rabbitmq-fleet prints what its README says (needs a RabbitMQ)',
  async () => {
    const promised = promisedBy('rabbitmq-fleet')
    expect(await run(promised)).toEqual({ exitCode: 0, stdout: promised.output, stderr: '' })
  },
  deadlineMs,
)

test('the command of examples/rabbitmq-fleet names a RabbitMQ that is not there, and starts nothing', async () => {
  const { command } = promisedBy('rabbitmq-fleet')
  const environment = { HOLDFAST_AMQP_URL: 'amqp://127.0.0.1:1' }
  const [, ...args] = command
  const { exitCode, stdout } = await runCli(args, { command: [process.execPath], cwd: root, environment })
  expect([exitCode, stdout]).toEqual([
    0,
    'skipped, because no RabbitMQ answers at 127.0.0.1:1 (ECONNREFUSED). HOLDFAST_AMQP_URL names another one.\n',
  ])
}, 20_000)

describe('examples/webhooks', () => {
  const tools: Readonly<Record<string, string>> = {
    'Node.js': 'node',
    Python: 'python3',
    Go: 'go',
    PHP: 'php',
    Java: 'javac',
  }
  const files: Readonly<Record<string, string>> = {
    js: 'receiver.mjs',
    python: 'receiver.py',
    go: 'receiver.go',
    php: 'receiver.php',
    java: 'Receiver.java',
  }
  const isInstalled = (tool: string) =>
    spawnSync(tool, [tool === 'go' ? 'version' : '--version']).status === 0
  let printed: readonly string[]

  beforeAll(async () => {
    const { exitCode, stdout, stderr } = await run(promisedBy('webhooks'))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    printed = stdout.trim().split('\n')
  }, deadlineMs)

  const promisedLines = promisedBy('webhooks').output.trim().split('\n')

  for (const [language, tool] of Object.entries(tools)) {
    test.skipIf(!isInstalled(tool))(`the receiver in ${language} verifies the events (needs ${tool})`, () => {
      const line = promisedLines.find((each) => each.startsWith(`${language}:`))
      expect(line).toBeDefined()
      expect(printed).toContain(line)
    })
  }

  test('a language that is not installed is named as skipped', () => {
    const missing = Object.entries(tools).filter(([, tool]) => !isInstalled(tool))
    expect(printed.filter((line) => line.includes('skipped'))).toEqual(
      missing.map(([language, tool]) => `${language}: skipped, because ${tool} isn't installed`),
    )
    expect(printed).toHaveLength(promisedLines.length)
  })

  test.each(Object.entries(files))(
    'docs/verifying.md shows the receiver in %s as it is',
    (language, file) => {
      const page = readFileSync(join(root, 'docs/verifying.md'), 'utf8')
      expect(block(page, language)).toBe(readFileSync(join(folder, 'webhooks', file), 'utf8'))
    },
  )
})
