import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Programs in plain JavaScript, which other tests run as they stand. */
const programs = new Set(['// receiver.mjs: WEBHOOK_SECRET=whsec_... PORT=8080 node receiver.mjs'])

/** What snippets take for granted: each shows one thing, and not where it comes from. */
const surroundings = `
import type { Holdfast as Sdk, Job } from 'holdfast'
import type { Client } from 'pg'
declare global {
  const Holdfast: typeof import('holdfast').Holdfast
  const holdfast: Sdk
  const databaseUrl: string
  /** Your own connection, in your own transaction. */
  const client: Client
  const payload: unknown
  const trackingEvent: object
  const orders: readonly number[]
  const sendInvoice: Job<{ orderId: number }, { orderId: number }, { pdf: string }>
  const report: Job<{ month: string }>
  function sendMail(mail: object, options: { signal: AbortSignal }): Promise<void>
  function tryAgainLater(): void
  function expect(value: unknown): { toEqual(expected: unknown): void }
}
`

interface Snippet {
  readonly place: string
  readonly text: string
}

let folder: string

async function snippetsOf(file: string): Promise<Snippet[]> {
  const text = await readFile(join(root, file), 'utf8')
  return [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)].flatMap((found) => {
    const [, code = ''] = found
    const line = text.slice(0, found.index).split('\n').length + 1
    return programs.has(code.split('\n', 1)[0] ?? '') ? [] : [{ place: `${file}:${line}`, text: code }]
  })
}

async function allSnippets(): Promise<Snippet[]> {
  const pages = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
  const files = ['README.md', ...pages.map((name) => `docs/${name}`)]
  return (await Promise.all(files.map(snippetsOf))).flat()
}

/** What the compiler says of these modules, one program for all of them. The package is what users get: dist and its declarations. */
async function compile(modules: ReadonlyMap<string, string>): Promise<string> {
  for (const [name, text] of modules) await writeFile(join(folder, name), text)
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    paths: {
      holdfast: [join(root, 'dist/index.d.ts')],
      'holdfast/client': [join(root, 'dist/client/index.d.ts')],
      'holdfast/testing': [join(root, 'dist/testing.d.ts')],
    },
  }
  const files = [...modules.keys()]
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return new Promise((resolve) => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    execFile(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], (_, stdout) => resolve(stdout))
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-snippets-'))
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('every snippet of README and docs compiles under strict TypeScript', async () => {
  const snippets = await allSnippets()
  expect(snippets.length).toBeGreaterThan(30)
  const named = new Map(snippets.map((snippet, index) => [`snippet-${index}.ts`, snippet]))
  const said = await compile(
    new Map([
      ['surroundings.ts', surroundings],
      ...[...named].map(([name, { text }]) => [name, `${text}\nexport {}\n`] as const),
    ]),
  )
  const readable = said.replace(/^\S*?(snippet-\d+\.ts)\((\d+)/gm, (_, name: string, line: string) => {
    const [file, first] = (named.get(name)?.place ?? '').split(':')
    return `${file}:${Number(first) + Number(line) - 1} (`
  })
  expect(readable).toBe('')
})

test('a misspelt field does not compile, and the right one is offered', async () => {
  const said = await compile(
    new Map([
      ['surroundings.ts', surroundings],
      [
        'http.ts',
        `await holdfast.endpoints.create({ name: 'crm', config: { ulr: 'https://crm.example' } })\nexport {}`,
      ],
      [
        'transform.ts',
        `await holdfast.routes.create({ name: 'r', eventType: '**', endpoint: 'crm', transform: { type: 'jsonata', expresion: '$' } })\nexport {}`,
      ],
      [
        'schedule.ts',
        `await holdfast.schedules.set({ name: 'n', job: 'report', corn: '0 3 * * *' })\nexport {}`,
      ],
      [
        'signing.ts',
        `await holdfast.endpoints.create({ name: 'crm', config: { url: 'https://crm.example', signing: { scheme: 'none', secert: 'x' } } })\nexport {}`,
      ],
    ]),
  )
  expect(said).toMatch(/http\.ts.* 'ulr' does not exist in type '[^']*HttpConfigInput/)
  expect(said).toMatch(/transform\.ts.*'expresion' does not exist .* Did you mean to write 'expression'\?/)
  expect(said).toMatch(/schedule\.ts.*'corn' does not exist/)
  expect(said).toMatch(/signing\.ts.*'secert' does not exist/)
})

test('the declarations that the package ships say what every field is for', async () => {
  const declarations = await readFile(join(root, 'dist/transports/http/description.d.ts'), 'utf8')
  expect(declarations).toMatch(
    /\/\*\* The absolute URL of requests, [^\n]* \*\/\n\s+readonly url: SecretInput/,
  )
})
