import { expect, test } from 'vitest'
import { adviceForId } from './id-advice.ts'

test('an id of another kind is answered with what shows it', () => {
  expect(adviceForId('msg_00000000010', 'dlv')).toBe(
    'That is the id of an event: holdfast events show msg_00000000010',
  )
  expect(adviceForId('run_00000000010', 'msg')).toBe(
    'That is the id of a run: holdfast runs show run_00000000010',
  )
})

test.each(['dlv_00000000010', 'dlv_x', '', 'abc_00000000010'])(
  '%j has no advice where a delivery is expected',
  (id) => {
    expect(adviceForId(id, 'dlv')).toBeNull()
  },
)
