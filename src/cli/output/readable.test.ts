import { expect, test } from 'vitest'
import { describeAttempts } from './attempt-table.ts'
import { countOf } from './count-of.ts'
import { requestFields } from './exchange-fields.ts'
import { Output } from './output.ts'

const stream = { write: () => true }
const output = new Output({ stdout: stream, stderr: stream, isJson: false, environment: {} })

test.each([
  [0, 'endpoints', '0 endpoints'],
  [1, 'endpoints', '1 endpoint'],
  [1, 'deliveries', '1 delivery'],
  [2, 'dead letters', '2 dead letters'],
])('%d %s are %s', (count, things, expected) => {
  expect(countOf(count, things)).toBe(expected)
})

test('a request is read line by line, and what a receiver sent back stays harmless', () => {
  const request = {
    method: 'POST',
    url: 'https://crm.example/hooks',
    headers: { 'x-team': 'blue\u001b[2J' },
    body: '{"n":1}',
    isTruncated: true,
  }
  expect(requestFields(request)).toEqual([
    ['request', 'POST https://crm.example/hooks'],
    [' ', 'x-team: blue\\u001b[2J'],
    [' ', '{"n":1} …'],
  ])
  expect(requestFields(null)).toEqual([])
})

test('attempts of several deliveries say where they went', () => {
  const attempt = {
    id: 'att_1',
    attempt: 1,
    startedAt: new Date(0),
    durationMs: 3,
    outcome: 'success',
    statusCode: 204,
    errorCode: null,
    error: null,
  } as unknown as Parameters<typeof describeAttempts>[1][number]
  const [one] = describeAttempts(output, [{ ...attempt, endpoint: 'crm' }])
  expect(one).not.toContain('ENDPOINT')
  const [two] = describeAttempts(output, [
    { ...attempt, endpoint: 'crm' },
    { ...attempt, endpoint: 'erp' },
  ])
  expect(two?.split('\n').map((line) => line.split(' ', 1)[0])).toEqual(['ENDPOINT', 'crm', 'erp'])
})
