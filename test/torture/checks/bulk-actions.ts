import type { Check } from '../evidence.ts'
import { replayEndpoint } from '../receivers.ts'

/** Filter and as-of: no letter that came after the preview, no more than it counted, and the sums are right. */
export const operationsKeepToTheirPreview: Check = ({ operations }) => {
  const violations: string[] = []
  for (const { actor, kind, previewed, operation, touched, unseen } of operations) {
    if (operation === null) {
      if (touched > 0)
        violations.push(`${actor}: there is no operation, but ${touched} letters carry its name`)
      continue
    }
    const { done, skipped, total, state } = operation
    if (unseen > 0)
      violations.push(`${actor} (${kind}): touched ${unseen} letters that came after its preview`)
    if (total > previewed)
      violations.push(`${actor} (${kind}): took on ${total}, its preview counted ${previewed}`)
    if (done > total) violations.push(`${actor} (${kind}): did ${done} of ${total}`)
    if (kind !== 'replay' && touched > done)
      violations.push(`${actor} (${kind}): says ${done}, touched ${touched}`)
    // What was resolved or discarded stays so: nobody else may have taken it over.
    if ((kind === 'resolve' || kind === 'discard') && touched !== done) {
      violations.push(`${actor} (${kind}): says ${done}, touched ${touched}`)
    }
    if (state === 'succeeded' && done + skipped !== total) {
      violations.push(`${actor} (${kind}): ${done} done and ${skipped} skipped of ${total}`)
    }
  }
  return { row: '11 bulk actions keep to their preview', checked: operations.length, violations }
}

export const operationsEnd: Check = ({ operations }) => ({
  row: '11 bulk actions end, or were cancelled',
  checked: operations.filter(({ operation }) => operation !== null).length,
  violations: operations.flatMap(({ actor, kind, operation }) =>
    operation === null || operation.state === 'succeeded' || operation.state === 'cancelled'
      ? []
      : [`${actor} (${kind}) is ${operation.state}: ${operation.error ?? operation.waiting}`],
  ),
})

/** Every delivery that a replay made arrived, under an id of its own. */
export const replaysArrive: Check = ({ operations, replays, ledger }) => {
  const ordered = operations.reduce(
    (sum, { kind, operation }) => sum + (kind === 'replay' ? (operation?.done ?? 0) : 0),
    0,
  )
  const violations = replays
    .filter((id) => !ledger.hasAccepted(replayEndpoint, id))
    .map((id) => `the replay ${id} counts as delivered, but was never accepted`)
  if (replays.length !== ordered) violations.push(`${ordered} were replayed, ${replays.length} delivered`)
  return { row: '1 replays arrive', checked: ordered, violations }
}
