import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import type { TransportChannel } from '../transport.ts'
import { httpTransport } from './http-transport.ts'
import { newSigningSecret } from './signing-secret.ts'

const page = readFileSync(new URL('../../../docs/verifying.md', import.meta.url), 'utf8')
const egress = createEgress({ allowNetworks: loopbackNetworks })
const never = new AbortController().signal
const secret = newSigningSecret()

/** The program as it stands on the page. */
function program(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1]
  if (found === undefined) throw new Error(`docs/verifying.md has no program in ${language}`)
  return found
}

it('the page has a receiver in five languages', () => {
  for (const language of ['js', 'python', 'go', 'php', 'java']) expect(program(language)).toContain('whsec_')
})

interface Receiver {
  readonly language: string
  readonly file: string
  /** What to run, in the program's folder. */
  readonly command: readonly [string, ...string[]]
  readonly build?: readonly [string, ...string[]]
  /** How to ask whether the tool is there. */
  readonly probe: readonly [string, ...string[]]
  /** Its server takes no port 0. */
  readonly needsPort?: boolean
}

const receivers: Readonly<Record<string, Receiver>> = {
  'Node.js': {
    language: 'js',
    file: 'receiver.mjs',
    command: [process.execPath, 'receiver.mjs'],
    probe: [process.execPath, '--version'],
  },
  Python: {
    language: 'python',
    file: 'receiver.py',
    command: ['python3', 'receiver.py'],
    probe: ['python3', '--version'],
  },
  Go: {
    language: 'go',
    file: 'receiver.go',
    build: ['go', 'build', '-o', 'receiver', 'receiver.go'],
    command: ['./receiver'],
    probe: ['go', 'version'],
  },
  PHP: {
    language: 'php',
    file: 'receiver.php',
    command: ['php', '-S', '127.0.0.1:{port}', 'receiver.php'],
    probe: ['php', '--version'],
    needsPort: true,
  },
  Java: {
    language: 'java',
    file: 'Receiver.java',
    build: ['javac', 'Receiver.java'],
    command: ['java', 'Receiver'],
    probe: ['javac', '-version'],
  },
}

function isThere([program, ...args]: readonly [string, ...string[]]): boolean {
  return spawnSync(program, args).status === 0
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe.each(Object.entries(receivers))('the receiver in %s', (_, tool) => {
  const isInstalled = isThere(tool.probe)
  let folder: string
  let receiver: ChildProcess
  let url: string
  const lines: string[] = []

  beforeAll(async () => {
    if (!isInstalled) return
    folder = mkdtempSync(join(tmpdir(), 'holdfast-verifying-'))
    writeFileSync(join(folder, tool.file), program(tool.language))
    const port = tool.needsPort === true ? await freePort() : 0
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, WEBHOOK_SECRET: secret, PORT: String(port) }
    if (tool.build !== undefined) {
      const [compiler, ...args] = tool.build
      const built = spawnSync(compiler, args, { cwd: folder, env, encoding: 'utf8' })
      if (built.status !== 0) throw new Error(`${compiler} refused the program: ${built.stderr}`)
    }
    const [executable, ...args] = tool.command.map((part) => part.replace('{port}', String(port)))
    receiver = spawn(executable!, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const listening = new Promise<string>((resolve) => {
      const read = (line: string) => {
        lines.push(line)
        const found = /^listening (\d+)|Development Server \(http:\/\/127\.0\.0\.1:(\d+)/.exec(line)
        if (found !== null) resolve(found[1] ?? found[2] ?? '')
      }
      createInterface({ input: receiver.stdout! }).on('line', read)
      createInterface({ input: receiver.stderr! }).on('line', read)
    })
    url = `http://127.0.0.1:${await listening}/hooks`
  }, 180_000)

  afterAll(async () => {
    if (!isInstalled) return
    receiver.kill()
    await once(receiver, 'exit')
    rmSync(folder, { recursive: true })
  })

  async function send(channel: TransportChannel): Promise<number | undefined> {
    const outcome = await channel.send(exampleDispatch({ body: '{"n":"Ægir"}' }), never)
    await channel.close()
    return outcome.statusCode
  }

  const open = (config: object) => httpTransport({ egress }).open('crm', { url, ...config })
  const signing = (more: object = {}) => ({ scheme: 'standard-webhooks', secret, ...more })

  /** What really goes out, to be changed on the way. */
  async function signedRequest(): Promise<{ headers: Record<string, string>; body: string }> {
    await using recorder = await HttpReceiver.start()
    await send(open({ url: recorder.url, signing: signing() }))
    const { headers, body } = recorder.ledger.requests[0]!
    return { headers: headers as Record<string, string>, body }
  }

  async function replay(
    change: (request: { headers: Record<string, string>; body: string }) => void,
  ): Promise<number> {
    const request = await signedRequest()
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = request.headers
    request.headers = { 'webhook-id': id!, 'webhook-timestamp': time!, 'webhook-signature': signature! }
    change(request)
    return (await fetch(url, { method: 'POST', headers: request.headers, body: request.body })).status
  }

  it.runIf(isInstalled)('accepts what Holdfast signs, also while a secret is rotated', async () => {
    expect(await send(open({ signing: signing() }))).toBe(204)
    const previousSecrets = [{ value: secret, expiresAtMs: Date.now() + 60_000 }]
    expect(await send(open({ signing: signing({ secret: newSigningSecret(), previousSecrets }) }))).toBe(204)
    await vi.waitFor(() => expect(lines.filter((line) => line.includes('received msg_1'))).toHaveLength(2))
    expect(await replay(() => {})).toBe(204)
  })

  it.runIf(isInstalled)('refuses the wrong secret and no signature', async () => {
    expect(await send(open({ signing: signing({ secret: newSigningSecret() }) }))).toBe(400)
    expect(await send(open({ signing: { scheme: 'none' } }))).toBe(400)
  })

  it.runIf(isInstalled).each([
    [-301, 400],
    [-280, 204],
    [310, 400],
  ])('judges a request by its age: signed %i s from now it is answered with %i', async (seconds, status) => {
    const time = Math.floor(Date.now() / 1000) + seconds
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(time),
      'webhook-signature': new Webhook(secret).sign('msg_1', new Date(time * 1000), '{}'),
    }
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(status)
  })

  it.runIf(isInstalled).each([
    ['a changed body', (request: { body: string }) => (request.body = request.body.replace('n', 'm'))],
    ['a changed id', ({ headers }: Changed) => (headers['webhook-id'] = 'msg_2')],
    ['a later time', ({ headers }: Changed) => (headers['webhook-timestamp'] = shifted(headers, 1))],
    ['a time that is none', ({ headers }: Changed) => (headers['webhook-timestamp'] = 'soon')],
    [
      'a signature of another version',
      ({ headers }: Changed) =>
        (headers['webhook-signature'] = headers['webhook-signature']!.replace('v1', 'v2')),
    ],
    ['half a signature', ({ headers }: Changed) => (headers['webhook-signature'] = 'v1,')],
  ])('refuses %s', async (_, change) => {
    expect(await replay(change as (request: Changed & { body: string }) => void)).toBe(400)
  })
})

interface Changed {
  readonly headers: Record<string, string>
}

function shifted(headers: Record<string, string>, seconds: number): string {
  return String(Number(headers['webhook-timestamp']) + seconds)
}
