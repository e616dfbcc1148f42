/** Ids count milliseconds from here, so that 2^53 lasts until 2093 and an id stays exact in a JavaScript number. */
export const idEpochMs = Date.UTC(2024, 0, 1)

/** How many ids fit into one millisecond before the sequence runs ahead of the clock. */
export const idsPerMs = 4096

/** What an id identifies: message, delivery, dead letter, run, attempt, operation, alert. */
export type IdPrefix = 'msg' | 'dlv' | 'dlt' | 'run' | 'atm' | 'op' | 'alt'

/** Crockford's base 32: no i, l, o, u, and in ASCII order, so that text sorts like the number. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digitsPerId = 11
/** The low 5 digits are split off by division, because bitwise operators stop at 32 bits. */
const lowDigitsRange = 2 ** 25

/** Two digits at a time: six table look-ups an id instead of eleven. */
const digitPairs: readonly string[] = Array.from(
  { length: 1024 },
  (_, pair) => alphabet.charAt(pair >> 5) + alphabet.charAt(pair & 31),
)

const digitByCharCode = new Int8Array(128).fill(-1)
for (let digit = 0; digit < alphabet.length; digit += 1) digitByCharCode[alphabet.charCodeAt(digit)] = digit

/**
 * The id as users see it.
 *
 * @example formatId('msg', 0) // 'msg_00000000000'
 */
export function formatId(prefix: IdPrefix, id: number): string {
  if (!Number.isSafeInteger(id) || id < 0) throw new RangeError(`${id} is not a valid ${prefix} id`)
  const high = Math.floor(id / lowDigitsRange)
  const low = id % lowDigitsRange
  return (
    prefix +
    '_' +
    digitPairs[high >> 20] +
    digitPairs[(high >> 10) & 1023] +
    digitPairs[high & 1023] +
    alphabet[low >> 20] +
    digitPairs[(low >> 10) & 1023] +
    digitPairs[low & 1023]
  )
}

/**
 * The number of an id of this kind. Strict: another prefix, upper case, another length or a letter that Crockford
 * leaves out is not an id, so that each id has exactly one spelling.
 *
 * @example parseId('msg', 'msg_00000000010') // 32
 */
export function parseId(prefix: IdPrefix, text: string): number | undefined {
  const start = prefix.length + 1
  if (text.length !== start + digitsPerId || text[prefix.length] !== '_' || !text.startsWith(prefix))
    return undefined
  let id = 0
  for (let index = start; index < text.length; index += 1) {
    const digit = digitByCharCode[text.charCodeAt(index)] ?? -1
    if (digit < 0) return undefined
    id = id * 32 + digit
  }
  return Number.isSafeInteger(id) ? id : undefined
}

/** The lowest id of that millisecond. Times outside the range of ids give its nearest end, so that any time can bound a search. */
export function idAtTime(ms: number): number {
  const id = (Math.floor(ms) - idEpochMs) * idsPerMs
  return Math.min(Math.max(id, 0), Number.MAX_SAFE_INTEGER)
}

/** When the id was made, to the millisecond, in milliseconds since 1970. */
export function timeOfId(id: number): number {
  return idEpochMs + Math.floor(id / idsPerMs)
}
