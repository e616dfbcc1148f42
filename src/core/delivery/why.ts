/** Why a delivery is not delivered, in one sentence, and when that may end. */
export interface Why {
  readonly code: WhyCode
  readonly sentence: string
  /** When the delivery is sent automatically, if known. */
  readonly until: Date | null
}

export type WhyCode =
  | 'succeeded'
  | 'dead'
  | 'expired'
  | 'cancelled'
  | 'dropped'
  | 'skipped'
  | 'endpoint_paused'
  | 'endpoint_rejecting'
  | 'endpoint_disabled'
  | 'circuit_open'
  | 'endpoint_held'
  | 'behind_dead_letter'
  | 'behind_key'
  | 'due_later'
  | 'no_owner'
  | 'owner_silent'
  | 'concurrency_full'
  | 'rate_limited'
  | 'due_now'

/** A delivery that is no longer pending. */
export interface EndedDelivery {
  readonly state: string
  readonly endpoint: string | null
  readonly lastAttemptAt: Date | null
  readonly deadLetterId: string | null
  readonly error: string | null
}

export interface OwedDelivery {
  readonly endpoint: string
  readonly state: string
  readonly reason: string | null
  readonly stoppedBy: string | null
  readonly stateChangedAt: Date
  readonly circuit: string
  readonly failures: number
  readonly probeAt: Date | null
  readonly heldUntil: Date | null
  readonly holdReason: string | null
  readonly dueAt: Date | null
  readonly orderingKey: string | null
  readonly aheadId: string | null
  readonly ahead: number
  readonly blockingLetterId: string | null
  readonly attempt: number
  readonly inFlight: number
  readonly pending: number
  readonly concurrency: number
  readonly ratePerSecond: number | null
  readonly shard: number
  readonly node: string | null
  readonly isNodeAlive: boolean
}

export function whyEnded(delivery: EndedDelivery): Why {
  const { state, endpoint, deadLetterId, error } = delivery
  const where = endpoint ?? 'Its endpoint'
  const because = error === null ? '' : `: ${error.slice(0, 300)}`
  switch (state) {
    case 'succeeded':
      return why('succeeded', `It was delivered: ${where} accepted it.`)
    case 'dead':
      return why(
        'dead',
        `It became a dead letter${deadLetterId === null ? '' : ` (${deadLetterId})`} and is not retried automatically${because}`,
      )
    case 'expired':
      return why('expired', `It expired before ${where} accepted it, so it will not be sent.`)
    case 'cancelled':
      return why('cancelled', `It was cancelled${because === '' ? '.' : because}`)
    case 'skipped':
      return why('skipped', `It was skipped${because === '' ? ': nothing had to be sent.' : because}`)
    default:
      return why('dropped', `It was dropped${because === '' ? '.' : because}`)
  }
}

/** The first reason why a delivery isn't sent, in the order in which a node checks them. */
export function whyOwed(owed: OwedDelivery, now: Date): Why {
  return whyStopped(owed) ?? whyUnwell(owed) ?? whyOrdered(owed) ?? whyLater(owed, now) ?? whyBusy(owed)
}

function whyStopped(owed: OwedDelivery): Why | null {
  const { endpoint, state, reason, stoppedBy } = owed
  const because = reason === null || reason === '' ? '' : `: ${reason}`
  const by = stoppedBy === null ? '' : ` by ${stoppedBy}`
  if (state === 'paused')
    return why('endpoint_paused', `${endpoint} was paused${by}${because}. It waits until it is resumed.`)
  if (state === 'disabled')
    return why('endpoint_disabled', `${endpoint} was disabled${by}${because}. It waits until it is enabled.`)
  if (state === 'rejecting')
    return why(
      'endpoint_rejecting',
      `${endpoint} rejects every message and was paused${because}. Fix the cause, then resume it.`,
    )
  return null
}

function whyUnwell(owed: OwedDelivery): Why | null {
  const { endpoint, circuit, failures, probeAt, heldUntil, holdReason } = owed
  if (circuit !== 'closed') {
    return why(
      'circuit_open',
      `The circuit of ${endpoint} is open after ${failures} ${failures === 1 ? 'failure' : 'failures'} in a row, so this delivery waits until a probe succeeds.`,
      probeAt,
    )
  }
  if (heldUntil !== null || holdReason !== null) {
    return why(
      'endpoint_held',
      `${endpoint} is held${holdReason === null ? '' : `: ${holdReason}`}${heldUntil === null ? '. Clear the hold to continue' : ', as the receiver asked us to wait'}.`,
      heldUntil,
    )
  }
  return null
}

function whyOrdered({ orderingKey, blockingLetterId, aheadId, ahead }: OwedDelivery): Why | null {
  if (blockingLetterId !== null) {
    return why(
      'behind_dead_letter',
      `It waits behind the dead letter ${blockingLetterId}, which blocks the ordering key ${orderingKey ?? ''}. Redrive, resolve or discard that one first.`,
    )
  }
  if (aheadId !== null) {
    const others = ahead > 1 ? ` and ${ahead >= 1000 ? 'at least 999' : ahead - 1} more` : ''
    return why(
      'behind_key',
      `It waits behind ${aheadId}${others}, with the same ordering key ${orderingKey ?? ''}.`,
    )
  }
  return null
}

function whyLater({ dueAt, attempt }: OwedDelivery, now: Date): Why | null {
  if (dueAt === null || dueAt <= now) return null
  return attempt === 0
    ? why('due_later', 'It was published to be delivered later.', dueAt)
    : why('due_later', `Attempt ${attempt} failed; the next one follows after a delay.`, dueAt)
}

function whyBusy(owed: OwedDelivery): Why {
  const { endpoint, node, isNodeAlive, shard, inFlight, concurrency, ratePerSecond, pending } = owed
  if (node === null) {
    return why(
      'no_owner',
      `No node owns shard ${shard}, which ${endpoint} belongs to. Check that a node is running.`,
    )
  }
  if (!isNodeAlive) {
    return why(
      'owner_silent',
      `The node ${node}, which delivers to ${endpoint}, has sent no heartbeat for more than 10 seconds. Another running node takes over soon.`,
    )
  }
  if (inFlight >= concurrency) {
    return why(
      'concurrency_full',
      `All ${concurrency} slots of ${endpoint} are in use; it is sent when one is free.`,
    )
  }
  if (ratePerSecond !== null && pending > 1) {
    return why(
      'rate_limited',
      `${endpoint} accepts at most ${ratePerSecond} per second, and ${pending} deliveries wait for it.`,
    )
  }
  return why('due_now', 'Nothing blocks it: it is due, and is being sent now or within moments.')
}

function why(code: WhyCode, sentence: string, until: Date | null = null): Why {
  return { code, sentence, until }
}
