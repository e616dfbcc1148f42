import { HoldfastError } from '../core/errors.ts'

/** A value, and where it was set. */
export interface Given {
  readonly value: unknown
  /** For messages, like "the flag --port". */
  readonly source: string
}

const maxShownCharacters = 80

/** An error that says where the wrong value was set; it doesn't show a secret. */
export function wrongValue(name: string, given: Given, advice: string, isSecret = false): HoldfastError {
  const shown = isSecret
    ? ''
    : ` is ${(JSON.stringify(given.value) ?? 'undefined').slice(0, maxShownCharacters)}; it`
  return new HoldfastError('configuration_invalid', capitalised(`${given.source}${shown} ${advice}.`), {
    setting: name,
    source: given.source,
  })
}

function capitalised(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}
