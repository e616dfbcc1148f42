import { call, type Input } from '../api/call.ts'
import type { CallName } from '../api/calls.ts'

export interface UndoOffer {
  /** What was done: `Paused crm.` */
  readonly text: string
  readonly undo: () => Promise<unknown>
}

/** Kept until the part of the page that shows them is loaded. */
let unseen: UndoOffer[] = []
const listeners = new Set<() => void>()

/** Offers to take back what was just done, for ten seconds. */
export function offerUndo(text: string, undo: () => Promise<unknown>): void {
  unseen = [...unseen, { text, undo }]
  for (const listener of listeners) listener()
}

/** The inverse call: `undoBy('endpoints.resume', { params: { name } })`. */
export function undoBy<Name extends CallName>(name: Name, input: Input<Name>): () => Promise<unknown> {
  return () => call(name, input)
}

/** The audit log has it as the reason of the inverse call. */
export const undoReason = 'Undone in the dashboard.'

export function takeUndoOffers(): readonly UndoOffer[] {
  const taken = unseen
  unseen = []
  return taken
}

export function onUndoOffered(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
