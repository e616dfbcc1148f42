import { tmpdir } from 'node:os'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildProgram } from '../../src/cli/program.ts'
import { defineJob } from '../../src/jobs/job.ts'
import { ApiRig } from '../support/api/api-rig.ts'
import { runCli } from './cli-process.ts'

const columns = 80
const endpoint = 'the-customer-relationship-management-of-our-second-partner'
const type = 'order.line-item.quantity.changed-by-the-warehouse'
const isId = /^(?:msg|dlv|dlt|run|op|alt)_/

const job = defineJob({ name: 'a-job-that-has-a-rather-long-name-too', queue: 'a-queue-with-a-long-name' })

let rig: ApiRig

/** Every command that shows a list, found where they are registered, so that a new one is judged, too. */
function lists(command: Command, path: readonly string[] = []): string[][] {
  const isList =
    command.options.some(({ long }) => long === '--watch') && command.registeredArguments.length === 0
  return [
    ...(isList ? [[...path]] : []),
    ...command.commands.flatMap((child) => lists(child, [...path, child.name()])),
  ]
}

async function holdfast(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const result = await runCli(args, {
    cwd: tmpdir(),
    environment: { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: rig.adminKey, ...environment },
  })
  expect(result.exitCode, result.stderr).toBe(0)
  return result.stdout
}

beforeAll(async () => {
  rig = await ApiRig.create()
  const { holdfast: sdk } = rig
  await sdk.endpoints.create({
    name: endpoint,
    config: { url: `https://crm.example.com/${'a-long-path/'.repeat(8)}` },
    eventTypes: ['order.**'],
    contact: 'the team that nobody likes to be called at night <nobody@example.com>',
  })
  await sdk.endpoints.pause(
    endpoint,
    'Paused because of planned work that takes until nine tomorrow morning.',
  )
  await sdk.publish(type, { id: 16 }, { tenant: 'a-tenant-with-a-name' })
  const { id } = await sdk.publish(type, { id: 17 }, { criticality: 'critical' })
  const [delivery] = (await sdk.deliveries.list({ messageId: id })).data
  await sdk.deliveries.cancel(delivery!.id)
  await sdk.publish(type, { id: 18 })
  await sdk.jobs.declare(job)
  await sdk.schedules.set({
    name: 'every-working-day-at-three-in-the-morning',
    job: job.name,
    cron: '0 3 * * 1-5',
    timezone: 'America/Argentina/Buenos_Aires',
  })
  await sdk.enqueue(job, { month: '2030-01' })
})

afterAll(() => rig.stop())

describe('tables', async () => {
  const all = lists(await buildProgram())

  test('are found', () => {
    expect(all.length).toBeGreaterThan(15)
  })

  test.each(all.map((path) => [path.join(' '), path] as const))('%s fits 80 columns', async (_, path) => {
    const lines = (await holdfast(path, { COLUMNS: String(columns) })).split('\n')
    expect(lines.filter((line) => Array.from(line).length > columns)).toEqual([])
    expect(lines[0]).not.toContain('…')
    const ids = lines.flatMap((line) => line.split(/\s+/)).filter((word) => isId.test(word))
    expect(ids.filter((id) => id.endsWith('…'))).toEqual([])
  })

  test('say times as seen from now, and JSON says them exactly', async () => {
    const [title, row] = (await holdfast(['events', 'list'])).split('\n')
    expect(title).toMatch(/^ID +TYPE +STATE +TENANT +SIZE +CREATED$/)
    expect(row).toMatch(/ \d+ B +(?:now|\d+ (?:s|min) ago)$/)
    const { data } = JSON.parse(await holdfast(['events', 'list', '--json']))
    expect(data[0]).toMatchObject({
      sizeBytes: expect.any(Number),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })
  })

  test('go whole into a pipe', async () => {
    expect(await holdfast(['endpoints', 'list'])).toContain('a-long-path/'.repeat(8))
  })
})
