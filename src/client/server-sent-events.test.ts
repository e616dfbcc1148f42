import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ServerSentEventParser } from './server-sent-events.ts'

const stream =
  ': alive\n\nid: 1\nevent: delivery\ndata: {"a":1}\n\ndata: two\r\ndata: lines\r\n\r\nid: 3\n\nretry: 5\ndata:x\n\n'
const expected = [
  { id: '1', event: 'delivery', data: '{"a":1}' },
  { id: '1', event: 'message', data: 'two\nlines' },
  { id: '3', event: 'message', data: 'x' },
]

test('reads the same events however the stream is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: stream.length })), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), stream.length]
      const parser = new ServerSentEventParser()
      const events = places.slice(1).flatMap((end, index) => parser.push(stream.slice(places[index], end)))
      expect(events).toEqual(expected)
    }),
  )
})

test('a line without an end is not kept for ever', () => {
  const parser = new ServerSentEventParser()
  expect(() => parser.push('x'.repeat(2_000_000))).toThrow('exceeds the limit')
})
