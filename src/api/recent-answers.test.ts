import { expect, test } from 'vitest'
import { RecentAnswers } from './recent-answers.ts'

function answers() {
  const clock = { nowMs: 0 }
  const recent = new RecentAnswers<string>({ sizeOf: ({ length }) => length, nowMs: () => clock.nowMs })
  let made = 0
  const get = (key: string, acceptedAgeMs = 1000) =>
    recent.get(key, acceptedAgeMs, async () => `${key} ${++made}`)
  return { clock, recent, get }
}

test('callers share an answer until it is older than they accept', async () => {
  const { clock, get } = answers()
  expect(await get('a')).toBe('a 1')
  clock.nowMs = 999
  expect(await get('a')).toBe('a 1')
  expect(await get('b')).toBe('b 2')
  clock.nowMs = 1000
  expect(await get('a')).toBe('a 3')
})

test('the age of an answer counts from when it was begun', async () => {
  const { clock, recent, get } = answers()
  let finish: (answer: string) => void = () => {}
  const slow = recent.get('a', 1000, () => new Promise((resolve) => (finish = resolve)))
  clock.nowMs = 1500
  finish('slow')
  expect(await slow).toBe('slow')
  expect(await get('a')).toBe('a 1')
})

test('nobody gets an answer from before a change', async () => {
  const { recent, get } = answers()
  await get('a')
  recent.clear()
  expect(await get('a')).toBe('a 2')
})

test('a caller that accepts any age still gets none older than five seconds', async () => {
  const { clock, get } = answers()
  await get('a')
  clock.nowMs = 5000
  expect(await get('a', 3_600_000)).toBe('a 2')
})

test('a failure is not kept, and neither is a large answer', async () => {
  const { recent, get } = answers()
  await expect(recent.get('a', 1000, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await get('a')).toBe('a 1')
  const large = 'x'.repeat(300_000)
  await recent.get('b', 1000, async () => large)
  expect(await get('b')).toBe('b 2')
})

test('at most two hundred answers are kept, the last ones', async () => {
  const { get } = answers()
  for (let each = 1; each <= 201; each++) await get(`k${each}`)
  expect(await get('k201')).toBe('k201 201')
  expect(await get('k1')).toBe('k1 202')
})
