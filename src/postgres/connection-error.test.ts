import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { HoldfastError } from '../core/errors.ts'
import { isConnectionError } from './connection-error.ts'

function withCode(code: string): DatabaseError {
  const error = new DatabaseError('message', 7, 'error')
  error.code = code
  return error
}

test.each(['08006', '08P01', '57P01', '57P02', '57P03', '53300', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE'])(
  '%s is a failed connection',
  (code) => {
    expect(isConnectionError(withCode(code))).toBe(true)
  },
)

test.each(['23505', '40001', '57014', '42P01', '53100', '57P04'])('%s is a failed statement', (code) => {
  expect(isConnectionError(withCode(code))).toBe(false)
})

test('a missing socket is a failed connection, a missing file is not', () => {
  const missing = (syscall: string) => Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall })
  expect(isConnectionError(missing('connect'))).toBe(true)
  expect(isConnectionError(missing('open'))).toBe(false)
})

test('our own deadline is one, any other of our errors is not', () => {
  expect(isConnectionError(new HoldfastError('database_unavailable', ''))).toBe(true)
  expect(isConnectionError(new HoldfastError('invalid_name', ''))).toBe(false)
})
