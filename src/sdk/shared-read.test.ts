import { expect, test } from 'vitest'
import { SharedRead } from './shared-read.ts'

interface Begun {
  readonly end: (value: string) => void
  readonly fail: (error: Error) => void
}

function sharedRead(): { read: SharedRead<string>; begun: Begun[] } {
  const begun: Begun[] = []
  const read = new SharedRead(
    () => new Promise<string>((resolve, reject) => begun.push({ end: resolve, fail: reject })),
  )
  return { read, begun }
}

test('those who ask while a read runs share one that begins after it', async () => {
  const { read, begun } = sharedRead()
  const first = read.get()
  const others = [read.get(), read.get(), read.get()]
  expect(begun).toHaveLength(1)
  begun[0]?.end('before')
  expect(await first).toBe('before')
  await expect.poll(() => begun.length).toBe(2)
  begun[1]?.end('after')
  expect(await Promise.all(others)).toEqual(['after', 'after', 'after'])
  expect(begun).toHaveLength(2)
})

test('a read that fails fails for those who share it only', async () => {
  const { read, begun } = sharedRead()
  const first = read.get()
  const second = read.get()
  begun[0]?.fail(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await expect.poll(() => begun.length).toBe(2)
  begun[1]?.end('back')
  expect(await second).toBe('back')
  void read.get()
  expect(begun).toHaveLength(3)
})
