import { expect, test } from 'vitest'
import { obstaclesOf } from './obstacles.ts'

test('an endpoint that is stopped, or whose circuit is not closed, is an obstacle', () => {
  const obstacles = obstaclesOf([
    { name: 'crm', state: 'active', circuit: 'closed' },
    { name: 'erp', state: 'active', circuit: 'open' },
    { name: 'lrs', state: 'active', circuit: 'half_open' },
    { name: 'old', state: 'disabled', circuit: 'open' },
    { name: 'slow', state: 'held', circuit: 'closed' },
  ])
  expect([...obstacles]).toEqual([
    ['erp', 'circuit open'],
    ['lrs', 'circuit open'],
    ['old', 'disabled'],
    ['slow', 'held'],
  ])
})
