import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Journal, type JournalEntry } from './journal.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-journal-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function entry(id: number, text = ''): JournalEntry {
  return {
    worker: 7,
    record: {
      id,
      message: id,
      claim: 1,
      lane: 1,
      attempt: 1,
      expected: 0,
      action: 'succeed',
      outcome: 1,
      startedAtMs: 0,
      durationMs: 1,
      errorCode: null,
      error: null,
      detail: text === '' ? null : { text },
      delayMs: null,
      reason: null,
      isTried: true,
    },
  }
}

const open = (maxBytes = 1_000_000, retentionMs = 0) => new Journal({ folder, maxBytes, retentionMs })
const ids = (entries: readonly JournalEntry[]) => entries.map(({ record }) => record.id)
const files = () => readdirSync(folder).sort()

test('what was appended and not settled comes back, in order, also without a close', () => {
  const first = open()
  expect(first.open()).toEqual([])
  first.append([entry(1), entry(2)])
  first.append([entry(3)])
  first.settled(1)
  // No close: the process was killed.
  const second = open()
  expect(second.open()).toEqual([entry(2), entry(3)])
  second.settled(3)
  expect(open().open()).toEqual([])
})

test('a journal knows who wrote it before', () => {
  const first = open()
  first.open()
  first.noteWorker(41)
  first.noteWorker(42)
  const second = open()
  second.open()
  expect([...second.formerWorkers]).toEqual([41, 42])
})

test('a torn tail is cut off, and what comes after it is kept', () => {
  const first = open()
  first.open()
  first.append([entry(1)])
  first.append([entry(2)])
  first.close()
  const file = join(folder, files()[0]!)
  truncateSync(file, statSync(file).size - 3)
  const second = open()
  expect(ids(second.open())).toEqual([1])
  second.append([entry(3)])
  second.close()
  expect(ids(open().open())).toEqual([1, 3])
})

test('wherever it is cut or garbled, whole frames before that place come back and nothing is made up', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (batches, place, isGarbled) => {
        rmSync(folder, { recursive: true, force: true })
        const journal = open()
        journal.open()
        let last = 0
        const ends = [0]
        const sizes = [0]
        for (const size of batches) {
          journal.append(Array.from({ length: size }, () => entry(++last)))
          ends.push(last)
          sizes.push(statSync(join(folder, files()[0]!)).size)
        }
        journal.close()
        const file = join(folder, files()[0]!)
        const cutAt = Math.floor(place * sizes.at(-1)!)
        truncateSync(file, cutAt)
        if (isGarbled) appendFileSync(file, Buffer.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
        const whole = ends[sizes.findLastIndex((size) => size <= cutAt)]!
        expect(ids(open().open())).toEqual(Array.from({ length: whole }, (_, index) => index + 1))
      },
    ),
    { numRuns: 40 },
  )
})

test('segments go when all of their entries are settled, after their retention', () => {
  let nowMs = 0
  const big = 'x'.repeat(3 * 1024 * 1024)
  const journal = new Journal({ folder, maxBytes: 100_000_000, retentionMs: 1000, nowMs: () => nowMs })
  journal.open()
  for (let id = 1; id <= 6; id++) {
    journal.append([entry(id, big)])
    journal.settled(id)
  }
  expect(files().length).toBeGreaterThan(1)
  nowMs = 2000
  journal.append([entry(7)])
  journal.settled(7)
  journal.append([entry(8)])
  expect(files()).toHaveLength(1)
  expect(ids(open().open())).toEqual([8])
})

test('more unsettled bytes than allowed make it full, until they are settled', () => {
  const journal = open(1000)
  journal.open()
  expect(journal.isFull).toBe(false)
  journal.append([entry(1, 'x'.repeat(2000))])
  expect(journal.isFull).toBe(true)
  journal.settled(1)
  expect(journal.isFull).toBe(false)
  expect(readFileSync(join(folder, files()[0]!)).length).toBeGreaterThan(2000)
})
