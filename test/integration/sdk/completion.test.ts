import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** It exists in the editor only. */
const uri = pathToFileURL(`${root}test/types/in-the-editor.ts`).href

/** The part of an editor that asks TypeScript's language server. */
class Editor {
  readonly #server: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<number, (result: unknown) => void>()
  #received = Buffer.alloc(0)
  #lastId = 0

  constructor() {
    this.#server = spawn(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '--lsp', '--stdio'])
    this.#server.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  async ask(method: string, params: object): Promise<unknown> {
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve))
    this.#send({ jsonrpc: '2.0', id, method, params })
    return answer
  }

  tell(method: string, params: object): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  async close(): Promise<void> {
    const exited = once(this.#server, 'exit')
    this.#server.kill()
    await exited
  }

  #send(message: object): void {
    const body = JSON.stringify(message)
    this.#server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/Content-Length: (\d+)/i.exec(this.#received.toString('latin1', 0, end))?.[1])
      if (this.#received.length < end + 4 + length) return
      this.#hear(this.#received.toString('utf8', end + 4, end + 4 + length))
      this.#received = this.#received.subarray(end + 4 + length)
    }
  }

  #hear(text: string): void {
    const message = JSON.parse(text) as { id?: number; method?: string; params?: unknown; result?: unknown }
    if (message.id === undefined) return
    // The server asks too, for settings and the like: an editor may have nothing to say.
    if (message.method !== undefined) this.#send({ jsonrpc: '2.0', id: message.id, result: null })
    else this.#waiting.get(message.id)?.(message.result)
  }
}

describe('an editor completes', () => {
  let editor: Editor
  let version = 0
  beforeAll(async () => {
    editor = new Editor()
    await editor.ask('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(root).href,
      capabilities: {},
    })
    editor.tell('initialized', {})
    editor.tell('textDocument/didOpen', {
      textDocument: { uri, languageId: 'typescript', version, text: '' },
    })
  })
  afterAll(() => editor.close())

  /** What is offered where the code has a bar. */
  async function offeredIn(code: string): Promise<string[]> {
    const text = `import { Holdfast, type Endpoint, type Route } from '../../src/index.ts'
const holdfast = new Holdfast({ databaseUrl: 'postgres://localhost/app' })
${code.replace('|', '')}`
    const at = text.length - (code.length - code.indexOf('|') - 1)
    const before = text.slice(0, at).split('\n')
    version += 1
    editor.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] })
    const answer = (await editor.ask('textDocument/completion', {
      textDocument: { uri },
      position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
    })) as { items: { label: string }[] } | { label: string }[] | null
    const items = Array.isArray(answer) ? answer : (answer?.items ?? [])
    return items.map(({ label }) => label.replace(/\?$/, ''))
  }

  it.each([
    [
      'the config of an endpoint',
      `await holdfast.endpoints.create({ name: 'crm', config: { | } })`,
      ['url', 'headers', 'signing'],
    ],
    [
      'the config of a transport that is named',
      `await holdfast.endpoints.create({ name: 'ops', transport: 'smtp', config: { | } })`,
      ['to', 'from'],
    ],
    [
      'the credentials of one kind',
      `await holdfast.endpoints.create({ name: 'crm', config: { url: '', auth: { type: 'basic', | } } })`,
      ['username', 'password'],
    ],
    [
      'a transform of one kind',
      `await holdfast.routes.create({ name: 'a', eventType: '**', endpoint: 'crm', transform: { type: 'jsonata', | } })`,
      ['expression'],
    ],
    [
      'the config in an answer',
      `function see(it: Endpoint) { if (it.transport === 'http') it.config.| }`,
      ['url', 'signing'],
    ],
    [
      'the transform in an answer',
      `function see(it: Route) { if (it.transform?.type === 'template') it.transform.| }`,
      ['template'],
    ],
  ])('%s', async (_, code, fields) => {
    const offered = await offeredIn(code)
    expect(offered).toEqual(expect.arrayContaining(fields))
    expect(offered).not.toContain('tokenUrl')
  })
})
