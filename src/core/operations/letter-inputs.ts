import { z } from 'zod'
import { field } from '../field.ts'

const note = field.text(2000)

/** Fields for resolving a dead letter that needs no delivery any more. */
export const resolveInput = z.strictObject({
  note: note.optional(),
  /** What was done instead, in a word: `fixed_by_hand`, `refunded`, … */
  action: field.text(100).optional(),
})

export const discardInput = z.strictObject({ reason: note })

export type ResolveInput = z.input<typeof resolveInput>
export type DiscardInput = z.input<typeof discardInput>
