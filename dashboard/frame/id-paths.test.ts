import { expect, test } from 'vitest'
import { pathOfId } from './id-paths.ts'

test.each([
  ['msg_0jm3x1c8000', '/events/msg_0jm3x1c8000'],
  ['dlv_0jm3x1c8000', '/deliveries/dlv_0jm3x1c8000'],
  ['dlt_0jm3x1c8000', '/dead-letters/dlt_0jm3x1c8000'],
  ['run_0jm3x1c8000', '/runs/run_0jm3x1c8000'],
  ['op_0jm3x1c8000', '/operations/op_0jm3x1c8000'],
  ['crm', null],
  ['xyz_0jm3x1c8000', null],
  ['msg_0jm3x1c8000/../x', null],
])('%s is shown at %s', (id, path) => {
  expect(pathOfId(id)).toBe(path)
})
