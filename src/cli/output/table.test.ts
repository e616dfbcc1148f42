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

const wide = [
  { title: 'ID', value: (row: { id: string; type: string; error: string; by: string }) => row.id },
  { title: 'TYPE', canShrink: true, value: (row: { type: string }) => row.type },
  { title: 'BY', isExtra: true, value: (row: { by: string }) => row.by },
  { title: 'ERROR', canShrink: true, value: (row: { error: string }) => row.error },
]
const wideRow = {
  id: 'dlv_0d8xk2v4q01',
  type: 'order.created',
  by: 'somebody',
  error: 'connection refused by the peer',
}

test('what fits is left as it is', () => {
  expect(formatTable(wide, [wideRow], 80)).toBe(formatTable(wide, [wideRow]))
})

test('on a narrow terminal the widest column that may shrink gives way, and never an id', () => {
  expect(formatTable(wide, [wideRow], 60).split('\n')).toEqual([
    'ID               TYPE           BY        ERROR',
    'dlv_0d8xk2v4q01  order.created  somebody  connection refuse…',
  ])
})

test('then what is extra is left out, and the others have its room', () => {
  expect(formatTable(wide, [wideRow], 46).split('\n')).toEqual([
    'ID               TYPE           ERROR',
    'dlv_0d8xk2v4q01  order.created  connection re…',
  ])
})

test('nothing is wider than the terminal, however narrow', () => {
  for (let width = 1; width < 80; width += 1) {
    for (const line of formatTable(wide, [wideRow], width).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(width)
    }
  }
})
