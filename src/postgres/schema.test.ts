import { expect, test } from 'vitest'
import { checkServerVersion } from './schema.ts'

test.each([150_000, 150_018, 180_004])('server version %i is new enough', (version) => {
  expect(() => checkServerVersion(version)).not.toThrow()
})

test('a server before 15 is refused with its version and what to do', () => {
  expect(() => checkServerVersion(140_012)).toThrow(
    'The server runs PostgreSQL 14.12; Holdfast needs 15 or newer. Upgrade the server, or use another one.',
  )
})
