import { expect, test } from 'vitest'
import { progressLine } from './follow-operation.ts'

test.each([
  [{ done: 0, skipped: 0, total: 0, isTotalExact: true }, /^\[#{30}\] 100% {2}0 of 0$/],
  [{ done: 300, skipped: 40, total: 1000, isTotalExact: true }, /^\[#{10}-{20}\] {2}34% {2}340 of 1000$/],
  [{ done: 500, skipped: 0, total: 1000, isTotalExact: false }, / 50% {2}500 of 1000 or more$/],
  [{ done: 999, skipped: 0, total: 1000, isTotalExact: true }, /^\[#{30}\] {2}99% {2}999 of 1000$/],
])('%j is drawn to scale, and is not 100%% before its end', (operation, expected) => {
  expect(progressLine(operation)).toMatch(expected)
})
