import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { samples } from '../../src/transforms/learning/sample-events.ts'
import { ApiRig } from '../support/api/api-rig.ts'
import { until } from '../support/engine/until.ts'
import { type CliOptions, CliProcess, runCli } from './cli-process.ts'

let rig: ApiRig
let folder: string
let access: Record<string, string>

beforeAll(async () => {
  rig = await ApiRig.create()
  folder = await mkdtemp(join(tmpdir(), 'holdfast-learning-'))
  access = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: await rig.keyOf('admin') }
})
afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

function holdfast(args: readonly string[], options: CliOptions = {}) {
  return runCli(args, { cwd: folder, ...options, environment: { XDG_CONFIG_HOME: folder, ...access } })
}
const json = async (args: readonly string[], options: CliOptions = {}) => {
  const { stdout } = await holdfast([...args, '--json'], options)
  return JSON.parse(stdout) as Record<string, unknown>
}
const stored = async () => {
  const { rows } = await rig.database.pool.query<{ count: number }>(
    'select count(*)::int from holdfast_internal.messages',
  )
  return rows[0]?.count ?? 0
}

const line = (n: number, name = 'play_video') => {
  const time = new Date(Date.UTC(2030, 0, 1) + n * 3_600_000).toISOString()
  return JSON.stringify({ ...samples[name], timestamp: undefined, time })
}
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, n) => line(from + n))

describe('learning import', () => {
  test('publishes each event once, however often it is run, and keeps broken lines aside', async () => {
    const file = join(folder, 'tracking.log')
    const noise = [
      '{"name": "page_close", "time": "2030-01-01T00:00:00Z"}',
      '',
      '{"name": "play_video',
      '[1, 2]',
    ]
    await writeFile(file, [...lines(50), ...noise, line(3)].join('\n'))
    const before = await stored()
    const first = await holdfast(['learning', 'import', file, '--json'])
    expect(first.stderr).toContain('No route matches these events')
    expect(JSON.parse(first.stdout)).toMatchObject({ published: 50, unknown: 1, broken: 2, lines: 55 })
    expect(first.stderr).toContain(`${file}:53 `)
    expect(await readFile(join(folder, 'holdfast-import-rejected.jsonl'), 'utf8')).toContain('"line":53')
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 0, resumed: 55 })
    expect(await json(['learning', 'import', file, '--again'])).toMatchObject({ published: 50 })
    await writeFile(file, [...lines(50), ...noise, line(3), line(900)].join('\n'))
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 1, resumed: 55 })
    expect((await stored()) - before).toBe(51)
  })

  test('reads gzip, folders and standard input, and only what is asked for', async () => {
    await writeFile(
      join(folder, 'old.log.gz'),
      gzipSync([...lines(24, 2000), line(2000, 'problem_check')].join('\n')),
    )
    const from = ['--from', '2030-03-25T12:00:00Z', '--to', '2030-03-26']
    expect(await json(['learning', 'import', join(folder, 'old.log.gz'), '--dry-run'])).toMatchObject({
      published: 25,
    })
    expect(
      await json(['learning', 'import', join(folder, 'old.log.gz'), '--dry-run', ...from]),
    ).toMatchObject({ published: 12 })
    expect(await json(['learning', 'import', folder, '--dry-run', '--types', 'problem_check'])).toMatchObject(
      { published: 1 },
    )
    expect(await json(['learning', 'import', '-'], { input: lines(3, 5000).join('\n') })).toMatchObject({
      published: 3,
    })
  })

  test('says in a dry run what it would reject, with the same counts', async () => {
    const file = join(folder, 'unstorable.log')
    const withName = (n: number, username: string) =>
      JSON.stringify({ ...(JSON.parse(line(n)) as object), username })
    const rejected = join(folder, 'unstorable.jsonl')
    await writeFile(
      file,
      [...lines(3, 390_000), withName(390_003, 'a\ud800b'), withName(390_004, 'a\u0000b'), ''].join('\n'),
    )
    const tried = await holdfast(['learning', 'import', file, '--dry-run', '--json'])
    const done = await holdfast(['learning', 'import', file, '--rejected', rejected, '--json'])
    expect(JSON.parse(tried.stdout)).toMatchObject({ published: 3, broken: 2 })
    expect(JSON.parse(done.stdout)).toMatchObject({ published: 3, broken: 2 })
    expect(tried.stderr).toContain(`${file}:4 The payload contains half a surrogate pair`)
    expect(done.stderr).toContain(`${file}:4 The payload contains half a surrogate pair`)
  })

  test('takes characters that the platform writes as escapes of a surrogate pair', async () => {
    const file = join(folder, 'owl.log')
    const owl = JSON.stringify({ ...(JSON.parse(line(390_100)) as object), username: 'owl' })
    await writeFile(file, `${owl.replace('"owl"', String.raw`"\ud83e\udd89"`)}\n`)
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 1, broken: 0 })
  })

  test('imports the complete part of a truncated gzip file, and reports it', async () => {
    const torn = join(folder, 'torn')
    await mkdir(torn)
    const packed = gzipSync(lines(2000, 400_000).join('\n'))
    await writeFile(join(torn, 'a.log.gz'), packed.subarray(0, packed.length - 20))
    await writeFile(join(torn, 'b.log'), lines(10, 500_000).join('\n'))
    const before = await stored()
    const { exitCode, stdout, stderr } = await holdfast(['learning', 'import', torn, '--json'])
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('a.log.gz is not a complete gzip file')
    const { published } = JSON.parse(stdout) as { published: number }
    expect(published).toBeGreaterThan(1000)
    expect((await stored()) - before).toBe(published)
    const [row] = (
      await rig.database.pool.query<{ count: number }>(
        `select count(*)::int from holdfast_internal.messages where body ->> 'time' >= $1`,
        [new Date(Date.UTC(2030, 0, 1) + 500_000 * 3_600_000).toISOString()],
      )
    ).rows
    expect(row?.count).toBe(10)
  })

  test('reads a line again that was being written when it was read first', async () => {
    const file = join(folder, 'growing.log')
    const torn = line(600_005)
    await writeFile(file, `${lines(5, 600_000).join('\n')}\n${torn.slice(0, 40)}`)
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 5, broken: 1 })
    await writeFile(file, `${lines(5, 600_000).join('\n')}\n${torn}\n${line(600_006)}`)
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 2, resumed: 5, broken: 0 })
  })

  test('reads a log from its beginning that has taken the place of a rotated one', async () => {
    const file = join(folder, 'rotated.log')
    await writeFile(file, lines(8, 700_000).join('\n'))
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 8 })
    await writeFile(file, lines(5, 710_000).join('\n'))
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 5, resumed: 0 })
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 0, resumed: 5 })
  })

  test.each([
    ['over the API', 100_000],
    ['into the database', 800_000],
  ])('continues %s after a kill, and stores each event once', async (way, from) => {
    const environment = {
      XDG_CONFIG_HOME: folder,
      ...(way === 'over the API' ? access : { HOLDFAST_DATABASE_URL: rig.database.url }),
    }
    const file = join(folder, `long-${from}.log`)
    await writeFile(file, lines(30_000, from).join('\n'))
    const before = await stored()
    const marks = async () =>
      (await readdir(join(folder, '.holdfast', 'imports'))).filter((name) => name.endsWith('.json')).length
    const marksBefore = await marks()
    await using killed = new CliProcess(['learning', 'import', file, '--json'], {
      cwd: folder,
      environment,
    })
    // Several batches are sent at once, so what is stored says nothing about the first mark.
    await until('its first mark', async () => (await marks()) > marksBefore)
    killed.kill('SIGKILL')
    await killed.end()
    const { stdout } = await runCli(['learning', 'import', file, '--json'], { cwd: folder, environment })
    const { resumed, lines: read } = JSON.parse(stdout) as { resumed: number; lines: number }
    expect(resumed).toBeGreaterThan(0)
    expect(resumed + read).toBe(30_000)
    expect((await stored()) - before).toBe(30_000)
  })

  test('ends in order at Ctrl-C, which npm passes on a second time, and continues from there', async () => {
    const environment = { XDG_CONFIG_HOME: folder, ...access }
    const logs = join(folder, 'stopped')
    await mkdir(logs)
    for (const [n, from] of [1_000_000, 1_100_000].entries()) {
      await writeFile(join(logs, `${n}.log`), lines(30_000, from).join('\n'))
    }
    const before = await stored()
    const stopped = new CliProcess(['learning', 'import', logs, '--json'], { cwd: folder, environment })
    await until('it has begun', async () => (await stored()) > before)
    stopped.kill('SIGINT')
    stopped.kill('SIGINT')
    const { exitCode, stdout, stderr } = await stopped.end()
    expect(exitCode).toBe(130)
    expect(stderr).toContain(
      'Stopped by a signal. What was published is kept. To import the rest, run the same command again',
    )
    const first = JSON.parse(stdout) as Record<string, number>
    expect(first).toMatchObject({ stopped: true })
    expect(first['published']).toBe((await stored()) - before)
    expect(first['published']).toBeLessThan(60_000)
    const rest = await json(['learning', 'import', logs])
    expect(rest).toMatchObject({ stopped: false, published: 60_000 - first['published']! })
    expect((await stored()) - before).toBe(60_000)
  })

  test('with a database URL writes directly to the database, with the same counts and marks', async () => {
    const file = join(folder, 'direct.log')
    await rig.holdfast.endpoints.create({ name: 'direct', transport: 'function', eventTypes: ['play_video'] })
    await writeFile(file, [...lines(3000, 300_000), '{"name": "play_video', ''].join('\n'))
    const before = await stored()
    const direct = async (...args: readonly string[]) => {
      const environment = { XDG_CONFIG_HOME: folder, HOLDFAST_DATABASE_URL: rig.database.url }
      const { stdout } = await runCli([...args, '--json'], { cwd: folder, environment })
      return JSON.parse(stdout) as Record<string, unknown>
    }
    expect(await direct('learning', 'import', file)).toMatchObject({
      published: 3000,
      deliveries: 3000,
      broken: 1,
    })
    expect(await direct('learning', 'import', file)).toMatchObject({ published: 0, resumed: 3001 })
    // Over the API it is another import, whose events are known.
    expect(await json(['learning', 'import', file])).toMatchObject({ published: 3000, deliveries: 3000 })
    expect((await stored()) - before).toBe(3000)
  })

  test.each([
    [['/nowhere/at/all.log'], "can't be read"],
    [['.', '--from', 'yesterday'], '--from'],
    [['.', '--types', 'a b'], '--types'],
  ])('rejects %j', async (args, message) => {
    const { exitCode, stderr } = await holdfast(['learning', 'import', ...args])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe('learning explain', () => {
  test('shows both formats, and which field came from where', async () => {
    const file = join(folder, 'event.json')
    await writeFile(file, JSON.stringify(samples['seek_video']))
    const config = join(folder, 'transform.json')
    await writeFile(
      config,
      JSON.stringify({
        type: 'xapi',
        platformUrl: 'https://learn.example',
        actor: { from: 'map', map: { '*': 'p' } },
      }),
    )
    const explained = await json(['learning', 'explain', file, '--config', config])
    expect(explained).toMatchObject({
      xapi: [
        {
          verb: { display: { en: 'seeked' } },
          actor: { account: { name: 'p', homePage: 'https://learn.example' } },
        },
      ],
      caliper: [{ action: 'JumpedTo' }],
      skipped: null,
      from: {
        'xapi[0].timestamp': 'timestamp',
        'xapi[0].verb.id': 'name',
        'xapi[0].actor.account.name': 'context.username (actor.map)',
        'xapi[0].object.id': 'platformUrl, data.id, context.course_id',
        'xapi[0].result.extensions.https://w3id.org/xapi/video/extensions/time-to': 'data.new_time',
        'caliper[0].target.extensions.newTime': 'data.new_time',
      },
    })
    const { stdout } = await holdfast(['learning', 'explain', file])
    expect(stdout).toContain('data.new_time')
  })

  test('says why an event becomes nothing, or not in one format', async () => {
    const explain = (event: unknown) => json(['learning', 'explain', '-'], { input: JSON.stringify(event) })
    expect(await explain({ name: 'page_close', timestamp: '2030-01-01T00:00:00Z' })).toMatchObject({
      xapi: null,
      caliper: null,
      skipped: expect.stringContaining('page_close') as unknown,
    })
    const viewed = samples['edx.forum.thread.viewed']
    const explained = await explain(viewed)
    expect(explained).toMatchObject({
      xapi: [{ verb: { display: { en: 'viewed' } } }],
      caliper: null,
      skipped: null,
    })
    expect(Object.keys(explained as object)).toEqual(['xapi', 'caliper', 'skipped', 'from'])
    const { stdout } = await holdfast(['learning', 'explain', '-'], { input: JSON.stringify(viewed) })
    expect(stdout).toContain('There is no Caliper mapping for events "edx.forum.thread.viewed".')
    expect(await holdfast(['learning', 'explain', '-'], { input: '{"name":' })).toMatchObject({ exitCode: 2 })
  })
})
