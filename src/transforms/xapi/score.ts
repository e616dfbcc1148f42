import type { Result } from './statement.ts'

/**
 * Points as a score. xAPI requires `scaled` between -1 and 1 and `raw` between `min` and `max`. A bonus above the maximum or a penalty below zero
 * violates a bound, which is then left out, because a record store would refuse the statement.
 */
export function score(earned: number, possible: number): NonNullable<Result['score']> {
  const scaled = possible > 0 ? earned / possible : 0
  return {
    scaled: Math.min(1, Math.max(-1, scaled)),
    raw: earned,
    ...(earned >= 0 && { min: 0 }),
    ...(earned <= possible && { max: possible }),
  }
}
