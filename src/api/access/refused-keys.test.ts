import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { NewAuditEntry } from '../../storage/audit-log.ts'
import { RefusedKeys } from './refused-keys.ts'

const written: NewAuditEntry[] = []
let refused: RefusedKeys

beforeEach(() => {
  vi.useFakeTimers()
  written.length = 0
  refused = new RefusedKeys({
    write: async (entry) => {
      written.push(entry)
    },
  })
})

afterEach(() => {
  vi.useRealTimers()
})

test('the first is written at once, those of the minute after it as one entry', () => {
  refused.record('10.0.0.1', 'aaaaaaaaaa')
  for (let count = 0; count < 10_000; count += 1) refused.record(`10.0.${count % 200}.7`, `key${count}`)
  expect(written.map(({ detail }) => detail)).toEqual([
    { count: 1, addresses: ['10.0.0.1'], keys: ['aaaaaaaaaa'] },
  ])
  vi.advanceTimersByTime(60_000)
  expect(written).toHaveLength(2)
  expect(written[1]?.detail).toEqual({
    count: 10_000,
    addresses: expect.toSatisfy((listed: string[]) => listed.length === 10),
    keys: expect.toSatisfy((listed: string[]) => listed.length === 10),
  })
})

test('after a quiet minute the next one is written at once again', () => {
  refused.record('10.0.0.1', null)
  vi.advanceTimersByTime(60_000)
  expect(written).toHaveLength(1)
  refused.record('10.0.0.2', null)
  expect(written).toHaveLength(2)
})
