import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { samples } from '../../transforms/learning/sample-events.ts'
import { Checkpoint } from './checkpoint.ts'
import { type ImportCounts, ImportStopped, importLog } from './import-log.ts'
import type { ImportTarget } from './import-target.ts'

const count = 12_000
let folder: string
let path: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-import-'))
  path = join(folder, 'tracking.log')
  const line = (n: number) => {
    const time = new Date(Date.UTC(2030, 0, 1) + n * 1000).toISOString()
    return `${JSON.stringify({ ...samples['play_video'], timestamp: undefined, time })}\n`
  }
  await writeFile(path, Array.from({ length: count }, (_, n) => line(n)).join(''))
})
afterAll(async () => rm(folder, { recursive: true, force: true }))

function importTo(target: ImportTarget, stop: AbortSignal = new AbortController().signal) {
  const counts: ImportCounts = {
    lines: 0,
    published: 0,
    deliveries: 0,
    filtered: 0,
    unknown: 0,
    broken: 0,
    resumed: 0,
  }
  const imported = importLog(
    { path, sizeBytes: 0 },
    {
      target,
      stop,
      counts,
      filter: { fromMs: null, toMs: null, types: [] },
      checkpoint: Checkpoint.in(join(folder, 'imports'), path, target.name, ''),
      rejectedPath: join(folder, 'rejected.jsonl'),
      onBytes: () => {},
      onBroken: () => {},
      onWaiting: () => {},
    },
  )
  return { imported, counts }
}

function targetOf(name: string, pending: () => Promise<number>) {
  const stored = new Set<string>()
  const target: ImportTarget = {
    name,
    maxInFlight: 4,
    publish: async (events) => {
      for (const { key } of events) stored.add(key)
      return events.length
    },
    pending,
  }
  return { target, stored }
}

test('an import loses no event when its target fails between two batches', async () => {
  let isFailing = true
  const { target, stored } = targetOf('failing', async () => {
    if (!isFailing) return 0
    isFailing = false
    throw new Error('the server is away')
  })
  await expect(importTo(target).imported).rejects.toThrow('the server is away')
  await importTo(target).imported
  expect(stored.size).toBe(count)
})

test('a stop ends an import that waits for room, and the next one continues without loss', async () => {
  const stop = new AbortController()
  let isFull = true
  const { target, stored } = targetOf('full', async () => {
    if (!isFull) return 0
    isFull = false
    stop.abort()
    return 1_000_000
  })
  await expect(importTo(target, stop.signal).imported).rejects.toThrow(ImportStopped)
  expect(stored.size).toBeLessThan(count)
  const { imported, counts } = importTo(target)
  await imported
  expect(counts.resumed).toBeGreaterThan(0)
  expect(stored.size).toBe(count)
})
