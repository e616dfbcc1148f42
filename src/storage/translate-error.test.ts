import { expect, test } from 'vitest'
import { isLoginRefused } from '../postgres/connection-error.ts'
import { translateError } from './translate-error.ts'

test.each([
  ['there is no job named "nightly"', 'There is no job named "nightly". List them with: holdfast jobs list'],
  [
    'asOf must be the value of a preview',
    'asOf must be the value of a preview. List them with: holdfast jobs list',
  ],
])('an error of a SQL function is shown as a sentence: %s', (message, shown) => {
  const raised = Object.assign(new Error(message), {
    code: 'HF030',
    hint: 'List them with: holdfast jobs list',
  })
  expect(translateError(raised)).toMatchObject({ code: 'job_not_found', message: shown })
})

test.each([
  ['3D000', 'database "nowhere" does not exist'],
  ['28P01', 'password authentication failed for user "ada"'],
  ['08P01', 'no such database: nowhere'],
])('a refused login (%s) says what to check, and is still known as one', (code, message) => {
  const translated = translateError(Object.assign(new Error(message), { code }))
  expect(translated).toMatchObject({
    code: 'database_unavailable',
    message: `PostgreSQL rejected the connection: ${message}. Check the user, the password and the database's name in HOLDFAST_DATABASE_URL.`,
  })
  expect(isLoginRefused(translated)).toBe(true)
})
