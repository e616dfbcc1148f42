import { isDeepStrictEqual } from 'node:util'
import type { Check } from '../evidence.ts'

export const deadLettersAreWhole: Check = ({ books, states }) => {
  const violations: string[] = []
  let checked = 0
  for (const { id, payload, key, isPlain } of books.accepted.values()) {
    const letter = states.get(id)?.letter
    if (letter === null || letter === undefined) continue
    checked += 1
    if (!isDeepStrictEqual(letter.body, payload)) violations.push(`${id}: another body`)
    if (key === null && isPlain !== true && letter.headers?.['x-torture'] === undefined)
      violations.push(`${id}: no headers`)
    if (letter.error === null || letter.error === '') violations.push(`${id}: no error`)
    if (letter.recordedAttempts < letter.attempt) {
      violations.push(`${id}: ${letter.recordedAttempts} of ${letter.attempt} attempts`)
    }
  }
  return { row: '7 dead letters are whole', checked, violations }
}

export const endingsAreFinal: Check = ({ states }) => {
  const violations: string[] = []
  for (const { id, successes, letter, isOwed } of states.values()) {
    if (successes > 0 && isOwed) violations.push(`${id} is delivered and owed`)
    if (successes > 0 && letter?.state === 'open') violations.push(`${id} is delivered and dead`)
    if (letter?.state === 'open' && isOwed) violations.push(`${id} is dead and owed`)
  }
  return { row: '8 a stale decision changes nothing', checked: states.size, violations }
}
