import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ConfigFlags, loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function load(flags: ConfigFlags, environment: Record<string, string> = {}, configFile?: string) {
  return loadConfig({ flags, environment, folder, ...(configFile !== undefined && { configFile }) })
}

const write = (name: string, text: string) => writeFile(join(folder, name), text)

test.each([
  ['{"databaseUrl": 17}', '"databaseUrl" in holdfast.config.json must be text.'],
  ['{"allowNetworks": {}}', '"allowNetworks" in holdfast.config.json'],
])('a value of another type in the config file is refused in plain words: %s', async (text, message) => {
  await write('holdfast.config.json', text)
  const error = (await load({}).catch((thrown: unknown) => thrown)) as Error
  expect(error.message).toContain(message)
  expect(error.message).not.toContain('Invalid input')
})

test.each(['holdfast.config.ts', 'holdfast.config.yaml', 'holdfast.config.cjs'])(
  '%s is refused instead of ignored',
  async (name) => {
    await write(name, 'export default { port: 1001 }')
    await expect(load({})).rejects.toThrow(
      `The config file ${name} can't be read by Holdfast: write it as one of holdfast.config.json, holdfast.config.mjs, holdfast.config.js, or remove it.`,
    )
  },
)

describe('precedence', () => {
  test('a setting that is not given has its default, and no source', async () => {
    const { config, sources } = await load({})
    expect(config).toMatchObject({ port: 8420, host: '127.0.0.1', dataDir: '.holdfast', databaseUrl: null })
    expect(sources).toEqual({})
  })

  test('the config file beats the default', async () => {
    await write('holdfast.config.json', '{"port": 1001}')
    const { config, sources } = await load({})
    expect(config.port).toBe(1001)
    expect(sources.port).toBe('"port" in holdfast.config.json')
  })

  test('the environment beats the config file', async () => {
    await write('holdfast.config.json', '{"port": 1001}')
    expect((await load({}, { HOLDFAST_PORT: '1002' })).config.port).toBe(1002)
  })

  test('a flag beats the environment', async () => {
    const { config, sources } = await load({ port: '1003' }, { HOLDFAST_PORT: '1002' })
    expect(config.port).toBe(1003)
    expect(sources.port).toBe('the flag --port')
  })

  test('an empty variable counts as unset', async () => {
    expect((await load({}, { HOLDFAST_PORT: '' })).config.port).toBe(8420)
  })
})

describe('files', () => {
  test('the address of traces has a place for the id', async () => {
    const traceUrl = 'https://traces.example/{traceId}'
    expect((await load({}, { HOLDFAST_TRACE_URL: traceUrl })).config.traceUrl).toBe(traceUrl)
    await expect(load({}, { HOLDFAST_TRACE_URL: 'https://traces.example' })).rejects.toThrow('{traceId}')
  })

  test('a *_FILE variable reads the value from a file, without its last line break', async () => {
    await write('secret', 'postgres://ada:s3cret@db/app\n')
    const { config } = await load({}, { HOLDFAST_DATABASE_URL_FILE: 'secret' })
    expect(config.databaseUrl).toBe('postgres://ada:s3cret@db/app')
  })

  test('a variable and its *_FILE twin together are refused', async () => {
    await expect(load({}, { HOLDFAST_PORT: '1', HOLDFAST_PORT_FILE: 'port' })).rejects.toThrow(
      'Both HOLDFAST_PORT and HOLDFAST_PORT_FILE are set. Unset one of them.',
    )
  })

  test('a *_FILE that is missing is named with its variable', async () => {
    await expect(load({}, { HOLDFAST_PORT_FILE: 'nowhere' })).rejects.toThrow(
      /^HOLDFAST_PORT_FILE names a file/,
    )
  })

  test.each(['holdfast.config.mjs', 'holdfast.config.js'])('%s may be a module', async (name) => {
    await write('package.json', '{"type": "module"}')
    await write(name, 'export default { logLevel: "debug" }')
    expect((await load({})).config.logLevel).toBe('debug')
  })

  test('another config file can be named', async () => {
    await write('holdfast.config.json', '{"port": 1001}')
    await write('other.json', '{"port": 1002}')
    expect((await load({}, {}, 'other.json')).config.port).toBe(1002)
  })

  test('a named config file that is missing is refused', async () => {
    await expect(load({}, {}, 'nowhere.json')).rejects.toThrow(/^The config file nowhere.json can't be read/)
  })

  test('two config files are refused, because it would be unclear which one applies', async () => {
    await write('holdfast.config.json', '{}')
    await write('holdfast.config.mjs', 'export default {}')
    await expect(load({})).rejects.toThrow('holdfast.config.json and holdfast.config.mjs')
  })

  test('broken JSON is refused with its file', async () => {
    await write('holdfast.config.json', '{"port": ')
    await expect(load({})).rejects.toThrow(/^The config file holdfast.config.json isn't JSON/)
  })

  test('a module without a default export is refused', async () => {
    await write('holdfast.config.mjs', 'export const port = 1')
    await expect(load({})).rejects.toThrow('must export an object as its default')
  })

  test('an unknown field is refused with the nearest name', async () => {
    await write('holdfast.config.json', '{"databaseURL": "postgres://db/app"}')
    await expect(load({})).rejects.toThrow('unknown field "databaseURL". Did you mean "databaseUrl"?')
  })
})

describe('bad values', () => {
  test.each([
    ['a flag', { port: 'many' }, {}, 'The flag --port is "many"; it must be a whole number from 0 to 65535.'],
    [
      'a variable',
      {},
      { HOLDFAST_PORT: '70000' },
      'The environment variable HOLDFAST_PORT is "70000"; it must be a whole number from 0 to 65535.',
    ],
    [
      'a choice',
      {},
      { HOLDFAST_LOG_LEVEL: 'loud' },
      'The environment variable HOLDFAST_LOG_LEVEL is "loud"; it must be one of trace, debug, info, warn, error, fatal, silent.',
    ],
  ])('%s is refused with its source', async (_, flags, environment, message) => {
    await expect(load(flags, environment)).rejects.toThrow(message)
  })

  test('a field of the config file is refused with its file', async () => {
    await write('holdfast.config.json', '{"port": true}')
    await expect(load({})).rejects.toThrow('"port" in holdfast.config.json is true; it must be')
  })

  test('a database URL may name several hosts, and is refused with what is wrong with them', async () => {
    const url = 'postgres://ada:s3cret@a:5432,b:5433/app?target_session_attrs=read-write'
    expect((await load({}, { HOLDFAST_DATABASE_URL: url })).config.databaseUrl).toBe(url)
    const refused = load({}, { HOLDFAST_DATABASE_URL: url.replace('read-write', 'standby') })
    await expect(refused).rejects.toThrow(
      'The environment variable HOLDFAST_DATABASE_URL has target_session_attrs=standby, but Holdfast writes on every connection and ' +
        "can't work on a standby. Use target_session_attrs=read-write.",
    )
    await expect(load({}, { HOLDFAST_DATABASE_URL: 'mysql://ada:s3cret@a,b/app' })).rejects.toThrow(
      'begins with mysql://, but Holdfast runs on PostgreSQL. Write it like postgres://',
    )
  })

  test('a secret is refused without showing it', async () => {
    const refused = load({}, { HOLDFAST_DATABASE_URL: 'mysql://ada:s3cret@db' })
    await expect(refused).rejects.toThrow(
      'The environment variable HOLDFAST_DATABASE_URL begins with mysql://, but Holdfast runs on PostgreSQL. Write it like postgres://user:password@host:5432/database.',
    )
    await expect(refused).rejects.not.toThrow('s3cret')
  })

  test.each(['10.0.0.0/33', 'private', '10.0.0.0/8/8', 'fd00::/129', ''])(
    '"%s" is not a valid network',
    async (text) => {
      await expect(load({ allowNetworks: text })).rejects.toThrow('must be "none" or networks')
    },
  )
})

describe('networks', () => {
  test('a list of them is split at its commas', async () => {
    const { config } = await load({ allowNetworks: '10.0.0.0/8, fd00::/8,127.0.0.1' })
    expect(config.allowNetworks).toEqual(['10.0.0.0/8', 'fd00::/8', '127.0.0.1'])
  })

  test('"none" allows nothing, which differs from saying nothing', async () => {
    expect((await load({ allowNetworks: 'none' })).config.allowNetworks).toEqual([])
    expect((await load({})).config.allowNetworks).toBeNull()
  })
})

describe('unknown variables', () => {
  test('a misspelt one gets a warning with the nearest name', async () => {
    expect((await load({}, { HOLDFAST_DATABSE_URL: 'x' })).warnings).toEqual([
      'The environment variable HOLDFAST_DATABSE_URL is unknown and was ignored. Did you mean HOLDFAST_DATABASE_URL?',
    ])
  })

  test('one that resembles nothing gets a pointer to the list', async () => {
    expect((await load({}, { HOLDFAST_ZZZZZZZZZZ: 'x' })).warnings).toEqual([
      'The environment variable HOLDFAST_ZZZZZZZZZZ is unknown and was ignored. See docs/configuration.md.',
    ])
  })

  test('other programs’ variables and those of the tests get none', async () => {
    expect((await load({}, { PATH: '/bin', HOLDFAST_TEST_DATABASE_URL: 'x' })).warnings).toEqual([])
  })
})

describe('site-wide settings', () => {
  test('come from --set, else the environment, else the config file, with where they came from', async () => {
    await write(
      'holdfast.config.json',
      '{"maxPending": 1, "zombieCheckMs": 2000, "defaults": {"retry": {"maxRetries": 5}}}',
    )
    const { site } = await loadConfig({
      flags: {},
      siteFlags: ['max_pending=3'],
      environment: {
        HOLDFAST_MAX_PENDING: '2',
        HOLDFAST_AUTO_DISABLE: '{"threshold": 7}',
        HOLDFAST_CRITICAL_RESEND_CRON: '0 5 * * *',
      },
      folder,
    })
    expect(site.values).toEqual({
      max_pending: 3,
      zombie_check_ms: 2000,
      auto_disable: { threshold: 7 },
      critical_resend_cron: '0 5 * * *',
      defaults: { retry: { maxRetries: 5 } },
    })
    expect(site.sources).toEqual({
      max_pending: 'the flag --set max_pending',
      zombie_check_ms: '"zombieCheckMs" in holdfast.config.json',
      auto_disable: 'the environment variable HOLDFAST_AUTO_DISABLE',
      critical_resend_cron: 'the environment variable HOLDFAST_CRITICAL_RESEND_CRON',
      defaults: '"defaults" in holdfast.config.json',
    })
  })

  test('are no source when they are not given', async () => {
    expect((await load({})).site).toEqual({ values: {}, sources: {} })
  })

  test.each([
    [
      { HOLDFAST_MAX_PENDING: 'many' },
      'The environment variable HOLDFAST_MAX_PENDING is "many"; it must be a whole number',
    ],
    [
      { HOLDFAST_AUTO_DISABLE: '{"threshold": 0}' },
      'it has a wrong field: threshold must be a whole number from 1 to 1000',
    ],
    [{ HOLDFAST_CRITICAL_RESEND_CRON: '0 0 31 2 *' }, 'it must be a schedule that has a next time'],
    [{ HOLDFAST_CRITICAL_RESEND_TIMEZONE: 'Mars/Olympus' }, 'must be the name of a time zone'],
  ])('%j is refused with its source', async (environment, message) => {
    await expect(load({}, environment)).rejects.toThrow(message)
  })

  test.each(['max_pending', 'max_pendin=5', '=5'])('--set %s is refused', async (flag) => {
    await expect(loadConfig({ flags: {}, siteFlags: [flag], environment: {}, folder })).rejects.toThrow(
      'The flag --set needs a setting and its value',
    )
  })
})
