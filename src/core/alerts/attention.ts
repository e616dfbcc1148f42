import { type AlertKindEntry, alertKinds, isAlertKind } from './alert-kinds.ts'

/** Something that is wrong, in one sentence that the API, the CLI and pages share. */
export interface Attention {
  readonly kind: string
  readonly severity: 'critical' | 'warning' | 'notice'
  /** The subject's name in the audit log, like `endpoint:crm`; null if the problem concerns the whole installation. */
  readonly subject: string | null
  readonly sentence: string
  readonly since: Date | null
  /** When the next automatic step happens: the next probe, or the end of a hold. */
  readonly until: Date | null
  /** True if it recovers without intervention. */
  readonly recovers: boolean
}

export interface UnwellEndpoint {
  readonly name: string
  readonly state: string
  readonly reason: string | null
  readonly circuit: string
  readonly failures: number
  readonly openedAt: Date | null
  readonly probeAt: Date | null
  readonly heldUntil: Date | null
  readonly pending: number
  readonly stateChangedAt: Date
}

const count = (value: number, noun: string): string =>
  `${value.toLocaleString('en')} ${value === 1 ? noun : noun === 'delivery' ? 'deliveries' : `${noun}s`}`

const waiting = (pending: number): string =>
  pending === 0 ? 'Nothing waits' : `${count(pending, 'delivery')} ${pending === 1 ? 'waits' : 'wait'}`

/** The problem of an endpoint; null if it needs no attention, such as a pause without waiting deliveries. */
export function attentionOfEndpoint(endpoint: UnwellEndpoint): Attention | null {
  const { name, state, reason, circuit, pending } = endpoint
  const subject = `endpoint:${name}`
  const because = reason === null ? '' : `${asSentence(reason)} `
  const stopped = { subject, since: endpoint.stateChangedAt, until: null, recovers: false }
  if (state === 'rejecting') {
    return {
      ...stopped,
      kind: 'rejecting',
      severity: 'critical',
      sentence: `${because}Paused to keep its messages from becoming dead letters. ${waiting(pending)}.`,
    }
  }
  if (state === 'disabled') {
    return {
      ...stopped,
      kind: 'endpoint_disabled',
      severity: 'critical',
      sentence: `${because}${waiting(pending)}.`,
    }
  }
  if (state === 'paused') {
    if (pending === 0) return null
    return {
      ...stopped,
      kind: 'paused',
      severity: 'notice',
      sentence: `Paused manually. ${because}${waiting(pending)}, and the give-up timer is paused.`,
    }
  }
  if (circuit !== 'closed') {
    return {
      kind: 'circuit_open',
      severity: 'critical',
      subject,
      sentence: `${count(endpoint.failures, 'failure')} in a row. ${waiting(pending)}; ${pending === 0 ? 'the next delivery is the probe' : 'waiting uses no attempts'}.`,
      since: endpoint.openedAt,
      until: pending === 0 ? null : endpoint.probeAt,
      recovers: false,
    }
  }
  return {
    kind: 'held',
    severity: 'warning',
    subject,
    sentence: `${because}${waiting(pending)}; no attempts are used.`,
    since: null,
    until: endpoint.heldUntil,
    recovers: endpoint.heldUntil !== null,
  }
}

export interface FreshLetters {
  readonly endpoint: string | null
  readonly queue: string | null
  readonly letters: number
  readonly firstAt: Date
  readonly sampleError: string | null
}

const maxErrorLength = 160

export function attentionOfLetters(fresh: FreshLetters, isCapped: boolean): Attention {
  const subject =
    fresh.endpoint !== null
      ? `endpoint:${fresh.endpoint}`
      : fresh.queue !== null
        ? `queue:${fresh.queue}`
        : null
  const error = fresh.sampleError?.slice(0, maxErrorLength) ?? ''
  return {
    kind: 'dead_letters',
    severity: 'critical',
    subject,
    sentence: `${isCapped ? 'More than ' : ''}${count(fresh.letters, 'new dead letter')} in the last hour${error === '' ? '' : `: ${withFullStop(error)}`}`,
    since: fresh.firstAt,
    until: null,
    recovers: false,
  }
}

export function attentionOfOldLetters(open: number): Attention {
  return {
    kind: 'dead_letters',
    severity: 'warning',
    subject: null,
    sentence: `${count(open, 'dead letter')} ${open === 1 ? 'is' : 'are'} open, none of the last hour.`,
    since: null,
    until: null,
    recovers: false,
  }
}

export interface FiringAlert {
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly subject: string
  readonly value: number
  readonly threshold: number
  readonly since: Date
}

export function attentionOfAlert({
  kind,
  severity,
  subject,
  value,
  threshold,
  since,
}: FiringAlert): Attention | null {
  if (!isAlertKind(kind)) return null
  const { isToldElsewhere, subjectPrefix, describe }: AlertKindEntry = alertKinds[kind]
  if (isToldElsewhere === true) return null
  const text = describe(subject, value, threshold)
  return {
    kind,
    severity,
    subject: subjectPrefix === undefined || subject === 'all' ? null : `${subjectPrefix}:${subject}`,
    sentence: asSentence(text),
    since,
    until: null,
    recovers: false,
  }
}

const causesOfFailures: ReadonlySet<string> = new Set(['circuit_open', 'rejecting', 'endpoint_disabled'])

/** Removes consequences: failing attempts of an endpoint are not listed if the endpoint is already stopped because of them. */
export function withoutEffects(attention: readonly Attention[]): Attention[] {
  const stopped = new Set(
    attention.filter(({ kind }) => causesOfFailures.has(kind)).map(({ subject }) => subject),
  )
  return attention.filter(({ kind, subject }) => kind !== 'failure_rate' || !stopped.has(subject))
}

export interface FailingTask {
  readonly name: string
  readonly failures: number
  readonly lastError: string | null
  readonly lastSucceededAt: Date | null
}

export function attentionOfTask({ name, failures, lastError, lastSucceededAt }: FailingTask): Attention {
  return {
    kind: 'maintenance_failing',
    severity: 'warning',
    subject: `task:${name}`,
    sentence: `Failed ${failures === 1 ? 'once' : `${failures} times`} in a row${lastError === null ? '' : `: ${withFullStop(lastError.slice(0, maxErrorLength))}`}`,
    since: lastSucceededAt,
    until: null,
    recovers: false,
  }
}

const weights = { critical: 0, warning: 1, notice: 2 } as const

/** Most urgent first, those that recover without intervention last; among equals, the longest-lasting first. */
export function byUrgency(left: Attention, right: Attention): number {
  return (
    Number(left.recovers) - Number(right.recovers) ||
    weights[left.severity] - weights[right.severity] ||
    (left.since?.getTime() ?? 0) - (right.since?.getTime() ?? 0) ||
    (left.subject ?? '').localeCompare(right.subject ?? '')
  )
}

/** Makes a sentence of a user's text, which may begin in lower case and lack a full stop. */
function asSentence(text: string): string {
  const sentence = withFullStop(text)
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

function withFullStop(text: string): string {
  const trimmed = text.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
