import { z } from 'zod'

/**
 * Messages between nodes and workers over the broker. Every body is JSON with `kind`; a receiver ignores unknown fields.
 * docs/decisions/0034-broker-mode.md says who sends which message when.
 */
export const protocolVersion = 1

const id = z.number().int().nonnegative()
const ms = z.number().nonnegative()

/** A run and the claim under which it was dispatched: every later message about the run carries this token. */
const dispatchToken = z.object({ runId: id, claimId: id })

const jobSettings = z.record(z.string(), z.unknown())

/**
 * Maximum of runs in a message. A node sends several only to workers that announce it in `slots`, and at most a quarter of a worker's free slots: a
 * message that is redelivered to another worker, or expires, affects all of its runs.
 */
export const maxRunsPerMessage = 64

/**
 * Node → worker, by the dispatch exchange: one run, or several runs of one job that share a claim. The worker acknowledges it when its start is
 * confirmed on the results queue. Start, expiry and return apply to the whole message; results are sent per run.
 */
export const dispatchMessage = z.object({
  kind: z.literal('dispatch'),
  /** The fields of a claimed run, as from claim_runs_v3. */
  run: z.object({
    claimId: id,
    id,
    messageId: id,
    laneId: id,
    jobId: id,
    attempt: id,
    crashes: id,
    expiresAtMs: z.number().nullable(),
    /** JSON text; null if the body no longer exists. */
    body: z.string().nullable(),
    correlationId: z.string().nullable(),
    headers: z.record(z.string(), z.string()).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    orderingKey: z.string().nullable(),
  }),
  /** Further runs under the same claim, as differences from the first run. They have never been tried. */
  more: z
    .array(
      z.object({
        id,
        body: z.string().nullable(),
        expiresAtMs: z.number().optional(),
        correlationId: z.string().optional(),
        headers: z.record(z.string(), z.string()).optional(),
        metadata: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .optional(),
  /** The worker must wait for a node's answer to its start before it calls the handler: the run may have been returned meanwhile. */
  asks: z.boolean().optional(),
  /** The settings at the time of the dispatch; `decideRun` needs them. */
  job: z.object({ name: z.string(), settings: jobSettings }),
})
export type DispatchMessage = z.infer<typeof dispatchMessage>

/** Headers of a dispatch message, for people and for other consumers. */
export const dispatchHeaders = {
  retryCount: 'x-retry-count',
  maxRetries: 'x-max-retries',
  originalCorrelationId: 'x-original-correlation-id',
} as const

/** One result, with the same fields as in a worker's journal. */
const runRecord = z.object({
  id,
  message: id,
  claim: id,
  lane: id,
  attempt: id,
  expected: id,
  action: z.enum(['succeed', 'retry', 'dead', 'expire', 'cancel', 'release']),
  outcome: z.number().int(),
  startedAtMs: z.number(),
  durationMs: z.number().nullable(),
  errorCode: z.string().nullable(),
  error: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()).nullable(),
  delayMs: z.number().nullable(),
  reason: z.string().nullable(),
  isTried: z.boolean(),
})

const joinMessage = z.object({
  kind: z.literal('join'),
  protocol: z.number().int(),
  /** Chosen by the worker: the answer carries it, and a redelivered join with the same id registers no second worker. */
  joinId: z.string().min(1).max(100),
  /** The worker is registered as this incarnation, and only asks for its queues again: one of them was deleted. */
  rejoins: id.optional(),
  /** Queues that the worker could not consume: `deleted`, or `unanswered` for a queue without a leader. */
  lostQueues: z.array(z.object({ name: z.string(), reason: z.enum(['deleted', 'unanswered']) })).optional(),
  name: z.string().min(1).max(200),
  version: z.string(),
  host: z.string(),
  pid: z.number().int(),
  /** Null: the queues of its jobs. */
  queues: z.array(z.string()).nullable(),
  tags: z.array(z.string()),
  concurrency: z.number().int().positive(),
  leaseMs: ms,
  jobs: z.array(z.object({ name: z.string(), settings: jobSettings })),
  /** Incarnations of dead processes whose journal this worker holds: their runs needn't wait for the lease. */
  formerWorkers: z.array(id),
})

/**
 * Worker → nodes, by the results exchange with the key `results`: persistent, mandatory and confirmed. Nodes handle the messages of one worker in the
 * order in which they were confirmed.
 */
export const resultsMessage = z.discriminatedUnion('kind', [
  joinMessage,
  /** How many runs the worker could start now, beyond those that it has received. Sent when the number changes, and with every heartbeat. */
  z.object({
    kind: z.literal('slots'),
    worker: id,
    free: id,
    /** How many runs the worker accepts in one message; 1 by default. */
    maxRuns: z.number().int().positive().optional(),
  }),
  /**
   * The runs of these messages have started; one run names each message. Their lease begins here. `asks`: they start only when the answer is
   * `started`.
   */
  z.object({
    kind: z.literal('starts'),
    worker: id,
    starts: z.array(dispatchToken).min(1),
    asks: z.boolean().optional(),
  }),
  z.object({
    kind: z.literal('results'),
    /** `worker`: the incarnation that held the run, possibly a former one. */
    entries: z.array(z.object({ worker: id, record: runRecord, job: z.string().optional() })).min(1),
  }),
  /**
   * One of the runs `blocking` blocks the worker's event loop: the runs `unbegun` are returned, and a crash counts for `blocking` alone. Sent by the
   * heartbeat.
   */
  z.object({ kind: z.literal('blocked'), worker: id, blocking: z.array(id), unbegun: z.array(id) }),
  /** The worker's event loop runs again. */
  z.object({ kind: z.literal('unblocked'), worker: id }),
  /** The worker is about to end its process, because its event loop is blocked: its runs needn't wait for the lease. */
  z.object({ kind: z.literal('died'), worker: id }),
  /** A clean stop: the worker holds no runs. */
  z.object({ kind: z.literal('leave'), worker: id }),
  /** Sent by a node: when it has been consumed, every message published before it has been handled. */
  z.object({ kind: z.literal('tick'), atMs: z.number(), node: id }),
])
export type ResultsMessage = z.infer<typeof resultsMessage>

/** Worker → nodes, by the results exchange with the key `beats`: transient and unconfirmed; any node handles it, in any order. */
export const beatsMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('beat'),
    worker: id,
    /** Counts from 1; the answer repeats it, so that the worker knows when the recorded heartbeat was sent. */
    beat: id,
    running: id,
    /** Executing runs, for the record of interrupted attempts; at most 500. */
    inFlight: z.array(z.object({ id, ageMs: ms })).max(500),
  }),
  z.object({
    kind: z.literal('progress'),
    worker: id,
    entries: z
      .array(z.object({ id, attempt: id, progress: z.unknown(), logs: z.array(z.unknown()) }))
      .max(500),
  }),
  z.object({ kind: z.literal('tick'), atMs: z.number(), node: id }),
])
export type BeatsMessage = z.infer<typeof beatsMessage>

/** Node → one worker, by the default exchange to the worker's exclusive queue in `replyTo`: transient. */
export const controlMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('joined'),
    joinId: z.string(),
    /** The worker's incarnation: the `worker` of all its further messages. */
    worker: id,
    /** The queues to consume; they have been declared. */
    consume: z.array(z.string()),
  }),
  /** The worker can't join, e.g. because of its protocol version. */
  z.object({ kind: z.literal('refused'), joinId: z.string(), reason: z.string() }),
  /** The answer to a heartbeat that was recorded. */
  z.object({
    kind: z.literal('heard'),
    worker: id,
    beat: id,
    /** False: this incarnation was declared dead and must join again. */
    isKnown: z.boolean(),
    state: z.enum(['active', 'draining', 'stopping']).nullable(),
    cancellations: z.array(z.object({ id, reason: z.string().nullable() })),
    life: z.string(),
  }),
  /** The answer to a start with `asks`: the start is recorded, and the handler may be called. */
  z.object({ kind: z.literal('started'), worker: id, runs: z.array(dispatchToken) }),
  /** The node received these starts too late: another worker has the runs. The worker aborts their handlers; only a success is still stored. */
  z.object({ kind: z.literal('dropped'), worker: id, runs: z.array(dispatchToken) }),
])
export type ControlMessage = z.infer<typeof controlMessage>

/** The `more` field of a message with several runs. */
export function furtherRuns(
  runs: readonly Readonly<DispatchMessage['run']>[],
): Pick<DispatchMessage, 'more'> {
  if (runs.length < 2) return {}
  const more = runs.slice(1).map(({ id, body, expiresAtMs, correlationId, headers, metadata }) => ({
    id,
    body,
    ...(expiresAtMs !== null && { expiresAtMs }),
    ...(correlationId !== null && { correlationId }),
    ...(headers !== null && { headers: { ...headers } }),
    ...(metadata !== null && { metadata: { ...metadata } }),
  }))
  return { more }
}

/** All runs of a message. */
export function runsOf({ run, more = [] }: DispatchMessage): DispatchMessage['run'][] {
  const others = more.map((other) => ({
    ...run,
    id: other.id,
    messageId: other.id,
    body: other.body,
    expiresAtMs: other.expiresAtMs ?? null,
    correlationId: other.correlationId ?? null,
    headers: other.headers ?? null,
    metadata: other.metadata ?? null,
  }))
  return [run, ...others]
}

export type Read<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly problem: string }

/** Parses a body; never throws. */
export function readMessage<Message>(schema: z.ZodType<Message>, content: Buffer): Read<Message> {
  let json: unknown
  try {
    json = JSON.parse(content.toString('utf8'))
  } catch {
    return { ok: false, problem: 'The body is not JSON.' }
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return { ok: true, message: parsed.data }
  const [issue] = parsed.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`
  return { ok: false, problem: `The message is invalid${where}: ${issue?.message ?? 'unknown'}` }
}

export function encodeMessage(
  message: DispatchMessage | ResultsMessage | BeatsMessage | ControlMessage,
): Buffer {
  return Buffer.from(JSON.stringify(message))
}
