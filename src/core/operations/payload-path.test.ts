import { expect, test } from 'vitest'
import { parsePayloadPath } from './payload-path.ts'

test.each([
  ['customer', ['customer']],
  ['customer.vatId', ['customer', 'vatId']],
  ['$.customer.vatId', ['customer', 'vatId']],
  ['items[0].sku', ['items', '0', 'sku']],
  ['$[2]', ['2']],
  ['"first name"."a.b"', ['first name', 'a.b']],
  ['"say \\"hi\\""', ['say "hi"']],
  ['größe', ['größe']],
])('%s leads to %j', (text, steps) => {
  expect(parsePayloadPath(text)).toEqual(steps)
})

test.each([
  '',
  '.',
  'a..b',
  'a.',
  'items[x]',
  'items[',
  '"open',
  'a'.repeat(3).split('').join('.').repeat(40),
])('%j is no path', (text) => {
  expect(parsePayloadPath(text)).toBeUndefined()
})
