import { expect, it } from 'vitest'
import { sampleInput } from '../sample-input.ts'
import { noneTransform } from './none-transform.ts'

const bodies = ['{ "a" : 1.0 }', '[]', '12345678901234567890']

it('sends the event byte for byte', () => {
  for (const body of bodies)
    expect(noneTransform().compile({}).render(sampleInput(body))).toEqual({
      ok: true,
      rendered: { body, contentType: 'application/json', headers: {} },
    })
})

it('sends a batch as an array that leaves every byte as it was', () => {
  const inputs = bodies.map((body) => sampleInput(body))
  expect(noneTransform().compile({ type: 'none' }).renderBatch(inputs)).toMatchObject({
    rendered: { body: '[{ "a" : 1.0 },[],12345678901234567890]' },
  })
})

it('takes no options', () => {
  expect(() => noneTransform().compile({ type: 'none', template: '{}' })).toThrow(/not a known field/)
})
