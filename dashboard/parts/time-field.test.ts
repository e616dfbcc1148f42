import { expect, test } from 'vitest'
import { fromField, toField } from './time-field.ts'

const at = new Date('2030-01-31T09:05:07Z')

test.each(['local', 'utc'] as const)('a moment comes back as it was: %s', (zone) => {
  expect(fromField(toField(at, zone), zone)).toEqual(at)
})

test('an empty field is no moment', () => {
  expect(fromField('', 'utc')).toBeNull()
})
