import type { Check } from '../evidence.ts'

/** However often it was asked for: one key, one message, one answer. */
export const oneKeyIsOneMessage: Check = ({ api, messagesByKey }) => {
  const violations: string[] = []
  for (const [key, ids] of api.answers) {
    const stored = messagesByKey.get(key) ?? 0
    if (ids.size > 1) violations.push(`${key} was answered with ${[...ids].join(', ')}`)
    if (stored > 1) violations.push(`${key} is stored ${stored} times`)
    if (ids.size === 1 && stored === 0) violations.push(`${key} was answered, but isn't stored`)
  }
  return { row: `one key is one message (${api.tries} tries)`, checked: api.answers.size, violations }
}

export const noSecretLeaks: Check = ({ secrets }) => ({
  row: '12 no secret anywhere',
  checked: secrets.checked,
  violations: secrets.leaks,
})
