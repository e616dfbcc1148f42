import { expect, test } from 'vitest'
import { lineDiff } from './line-diff.ts'

const marks = { same: ' ', added: '+', removed: '-' }
const drawn = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => `${marks[kind]}${text}`)

test('what changed stands between what stayed, the old before the new', () => {
  expect(drawn('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c'])
  expect(drawn('a', 'a')).toEqual([' a'])
  expect(drawn('a\nb', 'b')).toEqual(['-a', ' b'])
  expect(drawn('b', 'a\nb')).toEqual(['+a', ' b'])
})
