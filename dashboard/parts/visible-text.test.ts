import { expect, test } from 'vitest'
import { visibleText } from './visible-text.ts'

test.each([
  ['plain\ttext\nof two lines', 'plain\ttext\nof two lines'],
  ['a\u0000b', 'a\\u0000b'],
  ['\u001b[31mred', '\\u001b[31mred'],
  ['invoice\u202Efdp.exe', 'invoice\\u202efdp.exe'],
  ['שלום', 'שלום'],
])('%j is shown as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown)
})
