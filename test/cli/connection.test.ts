import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiRig } from '../support/api/api-rig.ts'
import { type CliOptions, runCli } from './cli-process.ts'

let rig: ApiRig
let folder: string
let key: string
let profiles: string

beforeAll(async () => {
  rig = await ApiRig.create()
  key = await rig.keyOf('admin')
  folder = await mkdtemp(join(tmpdir(), 'holdfast-connection-'))
  profiles = join(folder, 'holdfast/profiles.json')
})

afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

function holdfast(args: readonly string[], options: CliOptions = {}) {
  return runCli(args, {
    cwd: folder,
    ...options,
    environment: { XDG_CONFIG_HOME: folder, ...options.environment },
  })
}

describe('without a server', () => {
  test('a command says how to start one, and ends with 5', async () => {
    const { exitCode, stderr, stdout } = await holdfast(['endpoints', 'list'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(stderr).toContain('Start one in another terminal with: holdfast dev')
  })

  test('the hint in a clone is the command that works in a clone', async () => {
    const environment = { npm_package_name: 'holdfast', npm_lifecycle_event: 'holdfast' }
    const { stderr } = await holdfast(['endpoints', 'list'], { environment })
    expect(stderr).toContain('Start one in another terminal with: npm run -s holdfast -- dev')
  })

  test('an unreachable server is named, with the source of its URL', async () => {
    const environment = { HOLDFAST_URL: 'http://127.0.0.1:1', HOLDFAST_API_KEY: key }
    const { exitCode, stderr } = await holdfast(['endpoints', 'list'], { environment })
    expect(exitCode).toBe(5)
    expect(stderr).toContain("The API at http://127.0.0.1:1 can't be reached")
    expect(stderr).toContain('the environment variable HOLDFAST_URL')
    expect(stderr).not.toContain(key)
  })
})

test('a URL with https:// to a server without TLS says to write http://, in one line', async () => {
  const url = rig.server.url.replace('http:', 'https:')
  const { exitCode, stderr } = await holdfast(['endpoints', 'list'], {
    environment: { HOLDFAST_URL: url, HOLDFAST_API_KEY: key },
  })
  expect(exitCode).toBe(5)
  expect(stderr).toContain(
    `The API at ${url} can't be reached: it doesn't answer with TLS; write http:// if it has none. Check the URL`,
  )
})

test('each command that a refused key is answered with stands at the end of its line', async () => {
  const { stderr } = await holdfast(['endpoints', 'list'], {
    environment: { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: 'hf_wrong' },
  })
  const lines = stderr.split('\n')
  expect(lines[0]).toMatch(/holdfast api-keys create --local$/)
  expect(lines[1]).toMatch(/^The key came from .*\.$/)
  expect(lines[2]).toMatch(/^Sign in again with: \S.* --api-url http:\/\/127\.0\.0\.1:\d+$/)
  expect(lines[3]).toMatch(/ --role admin --local$/)
})

describe('signing in', () => {
  test('keeps the key for this user alone, and every later command uses it', async () => {
    const login = await holdfast(['login', '--api-url', rig.server.url], { input: `${key}\n` })
    expect(login).toMatchObject({ exitCode: 0, stdout: 'default\n' })
    expect(login.stderr).not.toContain(key)
    expect((await stat(profiles)).mode & 0o777).toBe(0o600)
    await chmod(profiles, 0o644)
    const { stdout } = await holdfast(['whoami', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      url: rig.server.url,
      role: 'admin',
      source: 'the profile "default"',
    })
    expect((await stat(profiles)).mode & 0o777, 'mended').toBe(0o600)
  })

  test('a key that is refused is not kept', async () => {
    const { exitCode } = await holdfast(['login', '--api-url', rig.server.url, '--profile', 'bad'], {
      input: 'hf_0123456789_nonsense',
    })
    expect(exitCode).toBe(7)
    expect(await readFile(profiles, 'utf8')).not.toContain('nonsense')
  })

  test('a profile asked for by name beats the environment, and a flag beats it', async () => {
    const viewer = await rig.keyOf('viewer')
    await holdfast(['login', '--api-url', rig.server.url, '--profile', 'look'], { input: viewer })
    const environment = { HOLDFAST_URL: 'http://127.0.0.1:1', HOLDFAST_API_KEY: key }
    const named = await holdfast(['whoami', '--json', '--profile', 'look'], { environment })
    expect(JSON.parse(named.stdout)).toMatchObject({ role: 'viewer', url: rig.server.url })
    const flagged = await holdfast(['whoami', '--json', '--profile', 'look', '--api-key', key], {
      environment,
    })
    expect(JSON.parse(flagged.stdout)).toMatchObject({ role: 'admin' })
  })

  test('a stored key goes to no other server', async () => {
    const { exitCode, stderr } = await holdfast(['endpoints', 'list', '--api-url', 'http://127.0.0.1:1'])
    expect(exitCode).toBe(5)
    expect(stderr).toContain('There is no API key for http://127.0.0.1:1')
  })
})

describe('a key', () => {
  const environment = (apiKey: string) => ({ HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: apiKey })

  test('a wrong key exits with 7 and says how to get a valid one, without showing the key', async () => {
    const wrong = `hf_0123456789_${'x'.repeat(43)}`
    const { exitCode, stderr } = await holdfast(['endpoints', 'list'], { environment: environment(wrong) })
    expect(exitCode).toBe(7)
    expect(stderr).toContain(`holdfast login --api-url ${rig.server.url}`)
    expect(stderr).toContain('holdfast api-keys create <name> --role admin --local')
    expect(stderr).not.toContain('xxxx')
  })

  test('a key without permission exits with 7 and says which roles have it', async () => {
    const viewer = await rig.keyOf('viewer')
    const { exitCode, stderr } = await holdfast(['events', 'publish', 'a.b', '{}'], {
      environment: environment(viewer),
    })
    expect(exitCode).toBe(7)
    expect(stderr).toContain('publisher')
  })

  test('a lost key can be replaced with access to the database, and the new one works', async () => {
    const { stdout } = await holdfast(['api-keys', 'create', '--local'], {
      environment: { HOLDFAST_DATABASE_URL: rig.database.url },
    })
    const listed = await holdfast(['api-keys', 'list', '--json'], { environment: environment(stdout.trim()) })
    expect(JSON.parse(listed.stdout).data).toContainEqual(expect.objectContaining({ role: 'admin' }))
  })
})
