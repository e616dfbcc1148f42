import { expect, test } from 'vitest'
import { cutLine, formatTable, printable } from './table.ts'

const columns = [
  { title: 'NAME', value: (row: { name: string; count: number }) => row.name },
  { title: 'COUNT', isNumber: true, value: (row: { name: string; count: number }) => String(row.count) },
]

test('columns are as wide as their widest cell, numbers stand right', () => {
  const rows = [
    { name: 'a', count: 5 },
    { name: 'a longer name', count: 123_456 },
  ]
  expect(formatTable(columns, rows)).toBe(
    'NAME            COUNT\na                   5\na longer name  123456',
  )
})

test('colours take no room', () => {
  const rows = [{ name: '\u001b[31mred\u001b[39m', count: 1 }]
  expect(formatTable(columns, rows)).toBe('NAME  COUNT\n\u001b[31mred\u001b[39m       1')
})

test('text from outside can not move the cursor', () => {
  expect(printable('a\u001b[2Jb\nc\u009b')).toBe('a\\u001b[2Jb\\u000ac\\u009b')
})

test('a line is cut to the width of the terminal, with its colours closed', () => {
  expect(cutLine('exactly ten', 11)).toBe('exactly ten')
  expect(cutLine('\u001b[31mred\u001b[39m and more', 6)).toBe('\u001b[31mred\u001b[39m a…')
  expect(cutLine('\u001b[31mall of it is red\u001b[39m', 4)).toBe('\u001b[31mall\u001b[39m…')
})
