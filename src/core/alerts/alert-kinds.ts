/** What an alert can be about. Each kind has a section of its own in `docs/runbook.md`; a test compares. */
interface AlertKindEntry {
  /** What the threshold counts. */
  readonly unit: 'count' | 'per minute' | 'share' | 'seconds' | 'none'
  /** Whether it can be narrowed to an endpoint or a tag. */
  readonly isScoped: boolean
  describe(subject: string, value: number, threshold: number): string
}

const everywhere = (subject: string): string => (subject === 'all' ? '' : ` (${subject})`)

export const alertKinds = {
  dead_letters: {
    unit: 'count',
    isScoped: true,
    describe: (subject, value, threshold) =>
      `${value} dead letters are unsettled, more than ${threshold}${everywhere(subject)}`,
  },
  dead_letter_rate: {
    unit: 'per minute',
    isScoped: true,
    describe: (subject, value, threshold) =>
      `${value} deliveries died within a minute, more than ${threshold}${everywhere(subject)}`,
  },
  failure_rate: {
    unit: 'share',
    isScoped: true,
    describe: (subject, value) => `${percent(value)} of the attempts at ${subject} fail`,
  },
  persisting_critical: {
    unit: 'count',
    isScoped: true,
    describe: (subject, value, threshold) =>
      `${value} critical messages have not arrived, more than ${threshold}${everywhere(subject)}`,
  },
  rejecting: {
    unit: 'none',
    isScoped: true,
    describe: (subject) => `${subject} refuses every message and was stopped; the rest is kept`,
  },
  circuit_open: {
    unit: 'seconds',
    isScoped: true,
    describe: (subject, value) => `the circuit of ${subject} has been open for ${duration(value)}`,
  },
  backlog_age: {
    unit: 'seconds',
    isScoped: true,
    describe: (subject, value) => `what is owed to ${subject} has been waiting for ${duration(value)}`,
  },
  backlog: {
    unit: 'count',
    isScoped: true,
    describe: (subject, value, threshold) => `${value} are owed to ${subject}, more than ${threshold}`,
  },
  endpoint_disabled: {
    unit: 'none',
    isScoped: true,
    describe: (subject) => `${subject} is disabled; its messages wait`,
  },
  job_disabled: {
    unit: 'none',
    isScoped: false,
    describe: (subject) => `the job ${subject} is disabled`,
  },
  node_lost: {
    unit: 'none',
    isScoped: false,
    describe: (subject) => `the node ${subject} died and has not come back`,
  },
  worker_lost: {
    unit: 'none',
    isScoped: false,
    describe: (subject) => `the worker ${subject} is gone`,
  },
  lane_forgotten: {
    unit: 'count',
    isScoped: false,
    describe: (subject, value) =>
      `deliveries of ${subject} were due and not read until a recovery sweep found them (${value} times in an hour): a defect of Holdfast`,
  },
  quarantine: {
    unit: 'count',
    isScoped: false,
    describe: (subject, value) =>
      `${value} results of ${subject} could not be stored and are in quarantine; their deliveries wait`,
  },
  partition_upkeep: {
    unit: 'count',
    isScoped: false,
    describe: () => 'the upkeep of partitions fails',
  },
  maintenance_failing: {
    unit: 'count',
    isScoped: false,
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

/** `database_away` can't be a rule in the database: each node watches for it by itself. */
export const ruleKinds = (Object.keys(alertKinds) as AlertKind[]).filter((kind) => kind !== 'database_away')

export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(alertKinds, kind)
}

/** Where `docs/runbook.md` speaks of it. */
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
