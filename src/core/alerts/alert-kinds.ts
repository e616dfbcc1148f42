/** A kind of alert. Each kind has its own section in `docs/runbook.md`; a test checks that. */
export interface AlertKindEntry {
  /** What the threshold counts. */
  readonly unit: 'count' | 'per minute' | 'share' | 'seconds' | 'none'
  /** Whether it can be narrowed to an endpoint or a tag. */
  readonly isScoped: boolean
  /** The kind of object that such an alert is about: `endpoint:crm`. */
  readonly subjectPrefix?: 'endpoint' | 'job' | 'node' | 'worker' | 'task' | 'quarantine' | 'source'
  /** The endpoint or its dead letters already show this problem, in more detail. */
  readonly isToldElsewhere?: true
  readonly describe: (subject: string, value: number, threshold: number) => string
}

const everywhere = (subject: string): string => (subject === 'all' ? '' : ` (${subject})`)

export const alertKinds = {
  dead_letters: {
    unit: 'count',
    isScoped: true,
    isToldElsewhere: true,
    describe: (subject, value, threshold) =>
      `${value} dead letters are open, more than ${threshold}${everywhere(subject)}`,
  },
  dead_letter_rate: {
    unit: 'per minute',
    isScoped: true,
    isToldElsewhere: true,
    describe: (subject, value, threshold) =>
      `${value} deliveries became dead letters within a minute, more than ${threshold}${everywhere(subject)}`,
  },
  failure_rate: {
    unit: 'share',
    isScoped: true,
    subjectPrefix: 'endpoint',
    describe: (subject, value) => `${percent(value)} of the attempts to deliver to ${subject} fail`,
  },
  persisting_critical: {
    unit: 'count',
    isScoped: true,
    subjectPrefix: 'endpoint',
    describe: (subject, value, threshold) =>
      `${value} critical messages are not delivered, more than ${threshold}${everywhere(subject)}`,
  },
  rejecting: {
    unit: 'none',
    isScoped: true,
    isToldElsewhere: true,
    describe: (subject) => `${subject} rejects every message and was paused; its messages wait`,
  },
  circuit_open: {
    unit: 'seconds',
    isScoped: true,
    isToldElsewhere: true,
    describe: (subject, value) => `the circuit of ${subject} has been open for ${duration(value)}`,
  },
  backlog_age: {
    unit: 'seconds',
    isScoped: true,
    subjectPrefix: 'endpoint',
    describe: (subject, value) => `the oldest delivery to ${subject} has been waiting for ${duration(value)}`,
  },
  backlog: {
    unit: 'count',
    isScoped: true,
    describe: (subject, value, threshold) =>
      `${value} deliveries to ${subject} are waiting, more than ${threshold}`,
  },
  endpoint_disabled: {
    unit: 'none',
    isScoped: true,
    isToldElsewhere: true,
    describe: (subject) => `${subject} is disabled; its messages wait`,
  },
  job_disabled: {
    unit: 'none',
    isScoped: false,
    subjectPrefix: 'job',
    describe: (subject) => `the job ${subject} is disabled`,
  },
  job_unhandled: {
    unit: 'seconds',
    isScoped: false,
    subjectPrefix: 'job',
    describe: (subject, value) =>
      `no worker handles the job ${subject}: its runs have been waiting for ${duration(value)}`,
  },
  node_lost: {
    unit: 'none',
    isScoped: false,
    subjectPrefix: 'node',
    describe: (subject) => `the node ${subject} died and has not come back`,
  },
  worker_lost: {
    unit: 'none',
    isScoped: false,
    subjectPrefix: 'worker',
    describe: (subject) => `the worker ${subject} died and has not come back`,
  },
  lane_forgotten: {
    unit: 'count',
    isScoped: false,
    describe: (subject, value) =>
      `deliveries to ${subject} were due but were read only when a recovery sweep found them (${value} times in an hour): a defect in Holdfast`,
  },
  quarantine: {
    unit: 'count',
    isScoped: false,
    subjectPrefix: 'quarantine',
    describe: (subject, value) =>
      `${value} results of ${subject} could not be stored and are in quarantine; their deliveries wait`,
  },
  source_disconnected: {
    unit: 'seconds',
    isScoped: false,
    subjectPrefix: 'source',
    describe: (subject, value) =>
      `the source ${subject} has received nothing for ${duration(value)}: no node is connected to it, or it was stopped because its messages are rejected`,
  },
  broker_dead_letter_rate: {
    unit: 'per minute',
    isScoped: false,
    describe: (_, value) =>
      `${value} runs of broker mode became dead letters in the last minute: they expired, were rejected, or were returned too often`,
  },
  broker_dead_letters: {
    unit: 'count',
    isScoped: false,
    describe: (_, value) => `${value} messages wait in the broker's dead-letter queue: no node handles them`,
  },
  broker_disconnected: {
    unit: 'seconds',
    isScoped: false,
    subjectPrefix: 'node',
    describe: (subject, value) =>
      `the node ${subject} has no connection to the broker, or is blocked by it, for ${duration(value)}`,
  },
  partition_upkeep: {
    unit: 'count',
    isScoped: false,
    subjectPrefix: 'task',
    describe: () => 'the maintenance of partitions fails',
  },
  maintenance_failing: {
    unit: 'count',
    isScoped: false,
    subjectPrefix: 'task',
    describe: (subject, value) => `the maintenance task ${subject} failed ${value} times in a row`,
  },
  disk_low: {
    unit: 'share',
    isScoped: false,
    describe: (subject, value) => `${percent(value)} of the disk is free (${subject})`,
  },
  database_away: {
    unit: 'none',
    isScoped: false,
    describe: (subject) => `the node ${subject} can't reach the database`,
  },
} as const satisfies Record<string, AlertKindEntry>

export type AlertKind = keyof typeof alertKinds

/** `database_away` can't be a rule in the database: each node checks it by itself. */
export const ruleKinds = (Object.keys(alertKinds) as AlertKind[]).filter((kind) => kind !== 'database_away')

export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(alertKinds, kind)
}

/** The anchor of the kind's section in `docs/runbook.md`. */
export function runbookAnchor(kind: string): string {
  return kind.replaceAll('_', '-')
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}
