import { isDeepStrictEqual } from 'node:util'
import type { Check, Evidence } from '../evidence.ts'
import { isAccepted, type Ledger } from '../ledger.ts'
import { batchEndpoint, numberOf } from '../receivers.ts'

/** Each accepted message is final in one way or still owed, and what was delivered is what was published. */
export const nothingVanishes: Check = ({ books, states, ledger }) => {
  const violations: string[] = []
  for (const { id, endpoint, payload } of books.accepted.values()) {
    const state = states.get(id)
    if (state === undefined) {
      violations.push(`${id} (${endpoint}) isn't stored at all`)
      continue
    }
    const { successes, letter, isOwed, isExpired, isCancelled } = state
    // A person may have settled it. One that was redriven lives on as a delivery.
    const isDead = letter !== null && letter.state !== 'redriven'
    if (successes === 0 && !isDead && !isOwed && !isExpired && !isCancelled) {
      violations.push(`${id} (${endpoint}) is neither final nor owed`)
    }
    if (endpoint === batchEndpoint) continue
    const other = ledger
      .of(endpoint, id)
      .find((entry) => isAccepted(entry) && !isDeepStrictEqual(entry.body, payload))
    if (other !== undefined) {
      violations.push(
        `${id} (${endpoint}) was published as ${JSON.stringify(payload).slice(0, 80)}, delivered as ${JSON.stringify(other.body).slice(0, 80)}`,
      )
    }
  }
  return {
    row: '1 nothing vanishes',
    checked: books.accepted.size,
    violations,
  }
}

/** What the database calls delivered to an endpoint is in the ledger of that endpoint's receiver, and was published to it. */
export const deliveredToTheRightLane: Check = ({ books, ledger, successes, lanes }) => {
  const violations: string[] = []
  let checked = 0
  const names = new Map([...lanes].map(([name, lane]) => [lane, name]))
  const inBatches = acceptedInBatches(ledger)
  for (const { webhookId, lane, endpoint: stored } of successes) {
    const endpoint = stored ?? names.get(lane)
    const message = books.accepted.get(webhookId)
    if (endpoint === undefined) {
      checked += 1
      violations.push(`${webhookId} counts as delivered to lane ${lane}, which nobody knows`)
      continue
    }
    // In a batch a message is known by its number, which only its publisher can tell.
    if (endpoint === batchEndpoint && message === undefined) continue
    checked += 1
    if (message !== undefined && message.endpoint !== endpoint) {
      violations.push(
        `${webhookId} was published to ${message.endpoint}, but counts as delivered to ${endpoint}`,
      )
      continue
    }
    const hasArrived =
      endpoint === batchEndpoint && message !== undefined
        ? inBatches.has(numberOf(message.payload))
        : ledger.hasAccepted(endpoint, webhookId)
    if (!hasArrived)
      violations.push(`${webhookId} counts as delivered to ${endpoint}, which never accepted it`)
  }
  return { row: '1 delivered means: to the right lane', checked, violations }
}

/** The numbers of the messages that came in batches which were taken. */
function acceptedInBatches(ledger: Ledger): Set<number> {
  return new Set(
    ledger
      .at(batchEndpoint)
      .filter(isAccepted)
      .flatMap(({ body }) => (body as unknown[]).map(numberOf)),
  )
}

export const everythingIsSettledInTheEnd: Check = ({ books, states }) => ({
  row: '1 nothing is owed after healing',
  checked: books.accepted.size,
  violations: [...books.accepted.values()]
    .filter(({ id }) => states.get(id)?.isOwed === true)
    .map(({ id, endpoint }) => `${id} (${endpoint}) is still owed`),
})

/** A result that can't be stored is a delivery that nobody hears of. What was judged are all results that were to be stored. */
export const quarantineIsEmpty: Check = ({ quarantine, states }) => ({
  row: '1 quarantine is empty',
  checked: [...states.values()].reduce((sum, { successes, failures }) => sum + successes + failures, 0),
  violations: quarantine.map(({ deliveryId, error }) => `${deliveryId}: ${error}`),
})

/** What is due is being read, or will be at a known time. A net that finds a lane of which neither is true has found a defect. */
export const noLaneIsForgotten: Check = ({ books, revivals }) => ({
  row: '13 no lane is forgotten',
  checked: books.accepted.size,
  violations: revivals,
})

/** Forced deletes end what is owed as cancelled, also what was committed after them. */
export const deletesLeaveNothing: Check = ({ books, states }) => {
  const temporary = [...books.accepted.values()].filter(({ endpoint }) => endpoint.startsWith('temporary'))
  const cancelled = temporary.filter(({ id }) => states.get(id)?.isCancelled === true)
  return {
    row: `deleted endpoints owe nothing (${cancelled.length} cancelled)`,
    checked: temporary.length,
    violations: temporary
      .filter(({ id }) => states.get(id)?.isOwed === true)
      .map(({ id, endpoint }) => `${id} (${endpoint}) is still owed`),
  }
}

export const rolledBackIsNeverSeen: Check = ({ books, states, ledger }) => {
  const sent = new Set(ledger.entries.map(({ webhookId }) => webhookId))
  return {
    row: '2 a rolled-back message is never seen',
    checked: books.rolledBack.length,
    violations: books.rolledBack
      .filter((id) => states.has(id) || sent.has(id))
      .map((id) => `${id} was rolled back, but ${states.has(id) ? 'is stored' : 'was sent'}`),
  }
}

/** A transaction that publishes can be prepared, and its messages are delivered like any other once it commits. */
export const preparedTransactionsPublish: Check = ({ books, leftOut }) => {
  const why = whyLeftOut(leftOut, 'prepared-transactions')
  return {
    row: `2 a publish can be prepared (${books.prepared.refused.length} refused)`,
    checked: books.prepared.tries,
    violations: books.prepared.refused,
    ...(why !== undefined && { unjudged: why }),
  }
}

export function whyLeftOut(leftOut: Evidence['leftOut'], name: string): string | undefined {
  return leftOut.find((each) => each.name === name)?.why
}
