import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CliProcess, runCli } from './cli-process.ts'
import { blocks, root } from './docs-blocks.ts'

/** In the order of the page. The first one installs and starts: the test does so itself. */
const [start, ...steps] = blocks().filter(
  ({ place, language }) => place.startsWith('docs/start.md:') && language === '',
)
const deadlineMs = 180_000

let folder: string
let dev: CliProcess
let port: string

beforeAll(async () => {
  // A clone of its own, as far as npm can tell, so that .holdfast is not that of whoever runs the tests.
  folder = await mkdtemp(join(tmpdir(), 'holdfast-start-'))
  for (const name of ['package.json', 'scripts', 'src', 'dist', 'examples', 'node_modules'])
    await symlink(join(root, name), join(folder, name))
  // What `npm start` is; npm itself would not pass signals on.
  dev = new CliProcess(['scripts/start.mjs', 'dev'], { command: [process.execPath], cwd: folder })
  const [, found] = await dev.waitFor('stderr', /http:\/\/127\.0\.0\.1:(\d+)/)
  await dev.waitFor('stderr', /send inbox/)
  port = found!
}, deadlineMs)

afterAll(async () => {
  dev.kill('SIGTERM')
  await dev.end()
  await rm(folder, { recursive: true, force: true })
})

test('docs/start.md and README.md begin with the same two commands', () => {
  const [ofReadme] = blocks().filter(
    ({ place, language }) => place.startsWith('README.md:') && language === '',
  )
  expect(start?.text).toBe('npm ci\nnpm start\n')
  expect(ofReadme?.text).toBe(start?.text)
})

test(
  'the commands of docs/start.md work, one after the other',
  async () => {
    expect(steps.length).toBeGreaterThan(6)
    for (const { place, text } of steps) {
      const command = text.replaceAll('127.0.0.1:8420', `127.0.0.1:${port}`)
      const result = await runCli(['-e', '-c', command], { command: ['bash'], cwd: folder })
      expect(result.exitCode, `${place}\n${result.stdout}${result.stderr}`).toBe(0)
    }
    for (const payload of ['{"hello":"world"}', '{"hello":"again"}', '{"kept":true}'])
      await dev.waitFor('stdout', new RegExp(payload.replaceAll(/[{}]/g, '\\$&')))
  },
  deadlineMs,
)
