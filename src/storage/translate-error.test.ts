import { expect, test } from 'vitest'
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
