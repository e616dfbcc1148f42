import { type IdPrefix, parseId } from './ids.ts'

const shownBy: Readonly<Partial<Record<IdPrefix, readonly [noun: string, command: string]>>> = {
  msg: ['an event', 'events show'],
  dlv: ['a delivery', 'deliveries show'],
  dlt: ['a dead letter', 'dead-letters show'],
  run: ['a run', 'runs show'],
  op: ['an operation', 'operations show'],
}

/**
 * What to do about an id that names something of another kind; null if it doesn't.
 *
 * @example adviceForId('msg_00000000010', 'dlv') // 'That is the id of an event: holdfast events show msg_00000000010'
 */
export function adviceForId(id: string, expected: IdPrefix): string | null {
  for (const [prefix, [noun, command]] of Object.entries(shownBy)) {
    if (prefix !== expected && parseId(prefix as IdPrefix, id) !== undefined) {
      return `That is the id of ${noun}: holdfast ${command} ${id}`
    }
  }
  return null
}
