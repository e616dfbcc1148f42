import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { HoldfastError } from '../core/errors.ts'
import { describeConnectionError, isConnectionError, isLoginRefused } from './connection-error.ts'

function withCode(code: string, message = 'message'): DatabaseError {
  const error = new DatabaseError(message, 7, 'error')
  error.code = code
  return error
}

test.each([
  '08006',
  '08P01',
  '57P01',
  '57P02',
  '57P03',
  '25P03',
  '53300',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
])('%s is a failed connection', (code) => {
  expect(isConnectionError(withCode(code))).toBe(true)
})

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

test.each([
  ['28P01', 'password authentication failed for user "ada"'],
  ['28000', 'no pg_hba.conf entry for host "10.0.0.1"'],
  ['3D000', 'database "app" does not exist'],
  ['08P01', 'no such database: app'],
  ['08P01', 'password authentication failed'],
])('%s "%s" is a refused login, which no waiting mends', (code, message) => {
  expect(isLoginRefused(Object.assign(new Error(message), { code }))).toBe(true)
})

test.each([
  ['08P01', 'server login has been failing, try again later (server_login_retry)'],
  ['57P03', 'the database system is starting up'],
  ['ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5432'],
])('%s "%s" is none', (code, message) => {
  expect(isLoginRefused(Object.assign(new Error(message), { code }))).toBe(false)
})

test.each([
  [
    'both addresses of a name',
    new AggregateError([Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' })]),
    'the connection was refused',
  ],
  [
    'an error of ours around it',
    new HoldfastError(
      'database_unavailable',
      'db:5432',
      {},
      Object.assign(new Error('x'), { code: 'ENOTFOUND' }),
    ),
    'its host name is unknown',
  ],
  [
    'our own deadline',
    new HoldfastError('database_unavailable', "PostgreSQL didn't answer", { deadlineMs: 15_000 }),
    'it does not respond',
  ],
  ["pg's own timeout", new Error('timeout expired'), 'it does not respond'],
  [
    'a server that starts',
    withCode('57P03', 'the database system is starting up'),
    'the database system is starting up',
  ],
  [
    'a standby',
    new HoldfastError('database_unavailable', 'The server is a standby and accepts no writes.'),
    'the server is a standby and accepts no writes',
  ],
])('says in plain words why: %s', (_, error, words) => {
  expect(describeConnectionError(error)).toBe(words)
})
