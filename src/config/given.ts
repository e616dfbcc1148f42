import { HoldfastError } from '../core/errors.ts'

/** A value, and who said it. */
export interface Given {
  readonly value: unknown
  /** "the flag --port", for a sentence. */
  readonly source: string
}

const maxShownCharacters = 80

/** Says where a wrong value stands; a secret isn't shown. */
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
