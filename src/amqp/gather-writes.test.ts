import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { gatherWrites } from './gather-writes.ts'

/** A socket's writing side, with the chunks of each system call. */
function gatheringStream(highWaterMark = 1_000): { stream: Duplex; calls: string[][] } {
  const calls: string[][] = []
  const stream = new Duplex({
    highWaterMark,
    decodeStrings: false,
    read: () => undefined,
    write(chunk, _, done) {
      calls.push([String(chunk)])
      done()
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)))
      done()
    },
  })
  gatherWrites(stream)
  return { stream, calls }
}

const nextCallback = () => new Promise<void>((resolve) => setImmediate(resolve))

it('sends what is written in one callback together, and what follows apart', async () => {
  const { stream, calls } = gatheringStream()
  for (const chunk of ['a', 'b', 'c']) stream.write(chunk)
  expect(calls).toEqual([])
  await nextCallback()
  stream.write('d')
  await nextCallback()
  expect(calls).toEqual([['a', 'b', 'c'], ['d']])
})

it('says when it is full, and when there is room again', async () => {
  const { stream, calls } = gatheringStream(2)
  expect(stream.write('a')).toBe(true)
  expect(stream.write('b')).toBe(false)
  await once(stream, 'drain')
  expect(calls).toEqual([['a', 'b']])
})

it('sends what is left when the stream is ended', async () => {
  const { stream, calls } = gatheringStream()
  stream.write('a')
  stream.end('b')
  await once(stream, 'finish')
  expect(calls.flat()).toEqual(['a', 'b'])
})
