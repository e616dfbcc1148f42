import { expect, test } from 'vitest'
import { startFailure } from './cluster.ts'

test.each([
  ['FATAL: could not write lock file "postmaster.pid": No space left on device', 'The disk is full'],
  ['LOG: could not bind IPv4 address "127.0.0.1": Address already in use', 'Its port is in use'],
  ['FATAL: could not open file "global/pg_filenode.map": Permission denied', 'check the owner and mode'],
  ['DETAIL: The data directory was initialized by PostgreSQL version 17', 'another major version'],
  ['postgres: error while loading shared libraries: libicui18n.so.60', 'lacks a library'],
])('"%s" is shown with advice', (output, advice) => {
  const error = startFailure('It did not start', output)
  expect(error.code).toBe('embedded_unavailable')
  expect(error.message).toContain(advice)
  expect(error.message).toContain(output)
})

test('an unknown failure is shown as it is', () => {
  expect(startFailure('It did not start', 'PANIC: odd\n').message).toBe('It did not start.\nPANIC: odd')
})
