import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { demoEndpointNames, demoTenant } from '../../src/cli/demo/demo-plan.ts'
import { ensureDemo, pauseDemo } from '../../src/cli/demo/ensure-demo.ts'
import { Holdfast } from '../../src/sdk/holdfast.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { CliProcess } from './cli-process.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

interface Listed<Item> {
  readonly data: readonly Item[]
}

test('the demo has an open circuit, dead letters, a disabled endpoint, runs and traffic to show', async () => {
  await using dev = new CliProcess(['dev', '--demo'], { cwd: folder })
  await dev.waitFor('stderr', /is running/)
  const apiUrl = /api +(http:\S+)/.exec(dev.stderr)?.[1]
  const key = (await readFile(join(folder, '.holdfast/admin-key'), 'utf8')).trim()
  const get = async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(`${apiUrl}${path}`, { headers: { authorization: `Bearer ${key}` } })
    expect(response.status, path).toBe(200)
    return (await response.json()) as Answer
  }
  const states = async () => {
    const { endpoints } = await get<{ endpoints: { name: string; state: string; circuit: string }[] }>(
      '/v1/overview',
    )
    return Object.fromEntries(endpoints.map(({ name, state, circuit }) => [name, `${state}, ${circuit}`]))
  }

  const databaseUrl = (await readFile(join(folder, '.holdfast/database-url'), 'utf8')).trim()
  const holdfast = new Holdfast({ databaseUrl })
  onTestFinished(() => holdfast.stop())

  // Ten seconds on a machine with nothing else to do.
  await vi.waitFor(
    async () => {
      expect(await states()).toMatchObject({
        healthy: 'active, closed',
        dead: expect.stringMatching(/^active, (open|half_open)$/),
        gone: 'disabled, closed',
      })
      const letters = await get<Listed<{ endpoint: string; job: string }>>('/v1/dead-letters')
      const places = letters.data.map(({ endpoint, job }) => endpoint ?? job)
      expect(new Set(places.filter((place) => place !== 'demo-report'))).toEqual(new Set(['flaky', 'gone']))
      const scraped = await fetch(`${apiUrl}/metrics`, { headers: { authorization: `Bearer ${key}` } })
      expect(await scraped.text()).toMatch(/^holdfast_runs_total{.*outcome="succeeded"} [1-9]/m)
      for (const endpoint of ['healthy', 'flaky', 'slow']) {
        const { data } = await get<Listed<unknown>>(`/v1/deliveries?endpoint=${endpoint}&state=succeeded`)
        expect(data.length, endpoint).toBeGreaterThan(0)
      }
      const runs = await holdfast.runs.list()
      expect(runs).toContainEqual(expect.objectContaining({ job: 'demo-cleanup', state: 'succeeded' }))
      expect(runs).toContainEqual(expect.objectContaining({ job: 'demo-report' }))
      expect((await get<Listed<unknown>>('/v1/events?limit=100')).data.length).toBeGreaterThan(30)
    },
    { timeout: 60_000, interval: 250 },
  )
  expect(dev.stdout, 'the inbox is for your own events').toBe('')

  await holdfast.stop()
  dev.kill('SIGTERM')
  expect(await dev.end()).toMatchObject({ exitCode: 0 })
  expect(dev.stderr).not.toContain("can't publish")
})

test('a node of dev starts and stops the demo on request', async () => {
  await using dev = new CliProcess(['dev'], { cwd: folder })
  await dev.waitFor('stderr', /is running/)
  const apiUrl = /api +(http:\S+)/.exec(dev.stderr)?.[1]
  const key = (await readFile(join(folder, '.holdfast/admin-key'), 'utf8')).trim()
  const call = async (method: string, path: string) => {
    const response = await fetch(`${apiUrl}${path}`, { method, headers: { authorization: `Bearer ${key}` } })
    expect(response.status, path).toBe(200)
    return (await response.json()) as Record<string, unknown>
  }
  const stateOf = async (name: string) => (await call('GET', `/v1/endpoints/${name}/health`))['state']
  expect(await call('GET', '/v1/demo')).toEqual({ isOffered: true, isRunning: false })
  for (let round = 1; round <= 2; round++) {
    expect(await call('POST', '/v1/demo/start')).toEqual({ isOffered: true, isRunning: true })
    expect(await stateOf('healthy')).toBe('active')
    await vi.waitFor(
      async () => {
        const { data } = await call('GET', '/v1/deliveries?endpoint=healthy&state=succeeded')
        expect((data as unknown[]).length).toBeGreaterThan(0)
      },
      { timeout: 30_000, interval: 250 },
    )
    expect(await call('POST', '/v1/demo/stop')).toEqual({ isOffered: true, isRunning: false })
    expect(await stateOf('healthy')).toBe('paused')
  }
  dev.kill('SIGTERM')
  expect(await dev.end()).toMatchObject({ exitCode: 0 })
})

test("the demo is set up once, leaves a person's endpoints alone, and rests when it isn't wanted", async () => {
  const database = await createTestDatabase()
  const holdfast = new Holdfast({ databaseUrl: database.url, allowNetworks: ['127.0.0.0/8'] })
  try {
    await holdfast.endpoints.create({
      name: 'slow',
      tags: ['demo'],
      config: { url: 'https://slow.example/hooks' },
    })
    const own = await holdfast.endpoints.get('slow')
    expect(await ensureDemo(holdfast, 'http://127.0.0.1:5001/')).toEqual(['slow'])
    await holdfast.endpoints.update('healthy', { limits: { concurrency: 3 } })
    await holdfast.endpoints.disable('gone')

    expect(await ensureDemo(holdfast, 'http://127.0.0.1:5002/')).toEqual(['slow'])
    expect(await holdfast.endpoints.get('healthy')).toMatchObject({
      config: { url: 'http://127.0.0.1:5002/healthy' },
      limits: { concurrency: 3 },
    })
    expect((await holdfast.endpoints.get('gone')).state).toBe('active')
    const routes = await holdfast.routes.list()
    expect(routes.map(({ tenant }) => tenant)).toEqual(routes.map(() => demoTenant))
    expect(routes.some(({ endpoint }) => endpoint === 'slow')).toBe(false)

    const ours = demoEndpointNames.filter((name) => name !== 'slow').toSorted()
    expect(await pauseDemo(holdfast)).toEqual(ours)
    expect(await pauseDemo(holdfast)).toEqual([])
    expect(await holdfast.endpoints.get('slow')).toEqual(own)
  } finally {
    await holdfast.stop()
    await database.drop()
  }
})
