import type { IconName } from './icon.tsx'

export type Tone = 'ok' | 'warn' | 'bad' | 'accent' | 'neutral'

export interface StateLook {
  readonly icon: IconName
  readonly word: string
  readonly tone: Tone
}

const look = (icon: IconName, word: string, tone: Tone): StateLook => ({ icon, word, tone })

/** Icon, word and tone of every state, in one place, so that one thing looks alike on all pages. */
export const states = {
  endpoint: {
    active: look('ok', 'Active', 'ok'),
    held: look('held', 'Held', 'warn'),
    paused: look('paused', 'Paused', 'neutral'),
    rejecting: look('stopped', 'Rejecting', 'bad'),
    disabled: look('stopped', 'Disabled', 'bad'),
  },
  circuit: {
    closed: look('circuitClosed', 'Closed', 'ok'),
    half_open: look('circle', 'Half-open', 'warn'),
    open: look('circuitOpen', 'Circuit open', 'bad'),
  },
  delivery: {
    pending: look('held', 'Pending', 'neutral'),
    in_flight: look('delivery', 'In flight', 'accent'),
    succeeded: look('ok', 'Succeeded', 'ok'),
    dead: look('letter', 'Dead', 'bad'),
    expired: look('held', 'Expired', 'bad'),
    cancelled: look('stopped', 'Cancelled', 'neutral'),
    dropped: look('skipped', 'Dropped', 'neutral'),
    skipped: look('skipped', 'Skipped', 'neutral'),
  },
  run: {
    scheduled: look('calendar', 'Scheduled', 'neutral'),
    waiting: look('held', 'Waiting', 'neutral'),
    running: look('running', 'Running', 'accent'),
    succeeded: look('ok', 'Succeeded', 'ok'),
    failed: look('failed', 'Failed', 'bad'),
    timed_out: look('failed', 'Timed out', 'bad'),
    expired: look('held', 'Expired', 'bad'),
    cancelled: look('stopped', 'Cancelled', 'neutral'),
    skipped: look('skipped', 'Skipped', 'neutral'),
  },
  worker: {
    active: look('ok', 'Alive', 'ok'),
    draining: look('held', 'Draining', 'warn'),
    stopping: look('held', 'Stopping', 'warn'),
    lost: look('failed', 'Lost', 'bad'),
  },
  node: {
    alive: look('ok', 'Alive', 'ok'),
    stopping: look('held', 'Stopping', 'warn'),
    lost: look('failed', 'Lost', 'bad'),
  },
  verdict: {
    ok: look('ok', 'OK', 'ok'),
    warn: look('warning', 'Warning', 'warn'),
    fail: look('failed', 'Problem', 'bad'),
  },
  letter: {
    open: look('letter', 'Open', 'bad'),
    redriven: look('replay', 'Redriven', 'neutral'),
    resolved: look('ok', 'Resolved', 'ok'),
    discarded: look('stopped', 'Discarded', 'neutral'),
    erased: look('stopped', 'Erased', 'neutral'),
  },
  outcome: {
    success: look('ok', 'Success', 'ok'),
    retryable: look('failed', 'Retryable', 'warn'),
    permanent: look('failed', 'Permanent', 'bad'),
    gone: look('failed', 'Gone', 'bad'),
    throttled: look('held', 'Throttled', 'warn'),
    expired: look('held', 'Expired', 'bad'),
    cancelled: look('stopped', 'Cancelled', 'neutral'),
    dropped: look('skipped', 'Dropped', 'neutral'),
    skipped: look('skipped', 'Skipped', 'neutral'),
    interrupted: look('stopped', 'Interrupted', 'warn'),
  },
  operation: {
    running: look('running', 'Running', 'accent'),
    paused: look('paused', 'Paused', 'neutral'),
    succeeded: look('ok', 'Done', 'ok'),
    failed: look('failed', 'Failed', 'bad'),
    cancelled: look('stopped', 'Cancelled', 'neutral'),
  },
  job: {
    active: look('ok', 'Active', 'ok'),
    paused: look('paused', 'Paused', 'neutral'),
    disabled: look('stopped', 'Disabled', 'bad'),
  },
  queue: {
    active: look('ok', 'Active', 'ok'),
    paused: look('paused', 'Paused', 'neutral'),
  },
  source: {
    connected: look('ok', 'Connected', 'ok'),
    connecting: look('running', 'Connecting', 'accent'),
    stalled: look('held', 'Stalled', 'warn'),
    disconnected: look('circuitOpen', 'Disconnected', 'bad'),
    paused: look('paused', 'Paused', 'neutral'),
    rejecting: look('stopped', 'Rejecting', 'bad'),
  },
  broker: {
    connected: look('ok', 'Connected', 'ok'),
    blocked: look('held', 'Blocked', 'warn'),
    disconnected: look('circuitOpen', 'Disconnected', 'bad'),
  },
  brokerQueue: {
    active: look('ok', 'Active', 'ok'),
    draining: look('held', 'Draining', 'neutral'),
    retired: look('stopped', 'Retired', 'neutral'),
    differs: look('failed', 'Differs', 'bad'),
  },
  alert: {
    pending: look('held', 'Pending', 'neutral'),
    firing: look('bell', 'Firing', 'bad'),
    resolved: look('ok', 'Resolved', 'ok'),
  },
  task: {
    idle: look('ok', 'OK', 'ok'),
    running: look('running', 'Running', 'accent'),
    failing: look('failed', 'Failing', 'bad'),
  },
  criticality: {
    critical: look('critical', 'Critical', 'warn'),
    standard: look('circle', 'Standard', 'neutral'),
    best_effort: look('circle', 'Best effort', 'neutral'),
  },
  attention: {
    circuit_open: look('circuitOpen', 'Circuit open', 'bad'),
    rejecting: look('stopped', 'Rejecting', 'bad'),
    endpoint_disabled: look('stopped', 'Disabled', 'bad'),
    paused: look('paused', 'Paused', 'neutral'),
    held: look('held', 'Held', 'warn'),
    dead_letters: look('letter', 'Dead letters', 'bad'),
    dead_letter_rate: look('letter', 'Dead letters', 'bad'),
    persisting_critical: look('critical', 'Critical waits', 'bad'),
    failure_rate: look('failed', 'Failing', 'warn'),
    backlog_age: look('growing', 'Backlog', 'warn'),
    backlog: look('growing', 'Backlog', 'warn'),
    job_disabled: look('job', 'Job disabled', 'bad'),
    job_unhandled: look('job', 'No worker', 'warn'),
    node_lost: look('server', 'Node lost', 'warn'),
    worker_lost: look('worker', 'Worker lost', 'warn'),
    source_disconnected: look('circuitOpen', 'Disconnected', 'bad'),
    broker_dead_letter_rate: look('failed', 'Broker dead letters', 'warn'),
    broker_dead_letters: look('failed', 'Broker dead letters', 'bad'),
    broker_disconnected: look('circuitOpen', 'Broker disconnected', 'bad'),
    lane_forgotten: look('warning', 'Defect', 'warn'),
    quarantine: look('database', 'Quarantine', 'warn'),
    partition_upkeep: look('server', 'Upkeep failing', 'warn'),
    maintenance_failing: look('server', 'Upkeep failing', 'warn'),
    disk_low: look('database', 'Disk low', 'bad'),
  },
} as const satisfies Record<string, Record<string, StateLook>>

export type StateKind = keyof typeof states

/** A state that a newer server knows is shown by its own name. */
export function stateLook(kind: StateKind, value: string): StateLook {
  const known = states[kind] as Readonly<Record<string, StateLook>>
  return known[value] ?? look('info', value.replaceAll('_', ' '), 'neutral')
}
