import { expect, test } from 'vitest'
import { operations } from '../../src/contract/operations.ts'
import { calls } from './calls.ts'

const groups = operations as unknown as Record<string, Record<string, { method: string; path: string }>>

test.each(Object.entries(calls))('%s is where the contract has it', (name, place) => {
  const [group = '', call = ''] = name.split('.')
  const operation = groups[group]?.[call]
  expect(place).toBe(`${operation?.method} ${operation?.path}`)
})
