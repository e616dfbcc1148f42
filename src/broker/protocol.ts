import { z } from 'zod'

/**
 * What nodes and workers tell each other over the broker. Every body is JSON with `kind`; a receiver skips fields that it doesn't know. See
 * docs/decisions/0034-broker-mode.md for who sends what when.
 */
export const protocolVersion = 1

const id = z.number().int().nonnegative()
const ms = z.number().nonnegative()

/** Names a run and the claim under which it was dispatched: the token that every later message about it carries. */
const dispatchToken = z.object({ runId: id, claimId: id })

const jobSettings = z.record(z.string(), z.unknown())

/**
 * How many runs a message may have. A node sends several only to workers that say so in `slots`, and no more than a quarter of the slots that one of them has free: a message that is
 * delivered to another worker, or expires, moves all of its runs.
 */
export const maxRunsPerMessage = 64

/**
 * Node → worker, by the dispatch exchange: one run, or several of one job that share a claim. It is acknowledged when its start is confirmed on the results queue. Start, expiry and return are
 * of the whole message; results are of each run.
 */
export const dispatchMessage = z.object({
  kind: z.literal('dispatch'),
  /** The fields of a claimed run, as from claim_runs_v2. */
  run: z.object({
    claimId: id,
    id,
    messageId: id,
    laneId: id,
    jobId: id,
    attempt: id,
    crashes: id,
    expiresAtMs: z.number().nullable(),
    /** JSON text; null: it is gone. */
    body: z.string().nullable(),
    correlationId: z.string().nullable(),
    headers: z.record(z.string(), z.string()).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    orderingKey: z.string().nullable(),
  }),
  /** Further runs under the same claim: what differs from the first. They have never been tried, and their message is theirs alone. */
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
  /** The worker hears whether its start counts before it calls the handler: the run may have been taken back meanwhile. */
  asks: z.boolean().optional(),
  /** The settings in force when it was dispatched; `decideRun` needs them. */
  job: z.object({ name: z.string(), settings: jobSettings }),
})
export type DispatchMessage = z.infer<typeof dispatchMessage>

/** Headers of a dispatch message, for people and for consumers that aren't ours. */
export const dispatchHeaders = {
  retryCount: 'x-retry-count',
  maxRetries: 'x-max-retries',
  originalCorrelationId: 'x-original-correlation-id',
} as const

/** One result, the same fields as in a worker's journal. */
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
  /** Chosen by the worker: it knows the answer by it, and a repeated join isn't a second worker. */
  joinId: z.string().min(1).max(100),
  /** It has joined as this worker, and only asks for its queues again: one of them was deleted. */
  rejoins: id.optional(),
  /** What it could not consume, and why: `unanswered` is a queue that the broker has no leader for. */
  lostQueues: z.array(z.object({ name: z.string(), reason: z.enum(['deleted', 'unanswered']) })).optional(),
  name: z.string().min(1).max(200),
  version: z.string(),
  host: z.string(),
  pid: z.number().int(),
  /** Null: those of its jobs. */
  queues: z.array(z.string()).nullable(),
  tags: z.array(z.string()),
  concurrency: z.number().int().positive(),
  leaseMs: ms,
  jobs: z.array(z.object({ name: z.string(), settings: jobSettings })),
  /** Incarnations of dead processes whose journal this worker holds: their lease needn't be waited for. */
  formerWorkers: z.array(id),
})

/**
 * Worker → nodes, by the results exchange with the key `results`: persistent, mandatory and confirmed. Messages of one worker are handled in the order in which they
 * were confirmed.
 */
export const resultsMessage = z.discriminatedUnion('kind', [
  joinMessage,
  /** How many runs it could start now, beyond those that it has received. Sent when it changes, and with every beat. */
  z.object({
    kind: z.literal('slots'),
    worker: id,
    free: id,
    /** How many runs it takes in one message; 1 unless it says so. */
    maxRuns: z.number().int().positive().optional(),
  }),
  /** The runs of these messages have begun, each named by one of them. Their lease counts from here. `asks`: they begin when the answer is `started`. */
  z.object({
    kind: z.literal('starts'),
    worker: id,
    starts: z.array(dispatchToken).min(1),
    asks: z.boolean().optional(),
  }),
  z.object({
    kind: z.literal('results'),
    /** `worker`: the incarnation that held the run, which may be a former one's. */
    entries: z.array(z.object({ worker: id, record: runRecord, job: z.string().optional() })).min(1),
  }),
  /** One of the runs `blocking` keeps its event loop: those of `unbegun` go back, and a crash counts for `blocking` alone. Sent by its heartbeat. */
  z.object({ kind: z.literal('blocked'), worker: id, blocking: z.array(id), unbegun: z.array(id) }),
  /** Its event loop has come round again. */
  z.object({ kind: z.literal('unblocked'), worker: id }),
  /** It is about to end itself, because its event loop is blocked: its lease needn't be waited for. */
  z.object({ kind: z.literal('died'), worker: id }),
  /** A clean stop: nothing of it is left. */
  z.object({ kind: z.literal('leave'), worker: id }),
  /** A node's own: when it comes back, everything that was published before it has been handled. */
  z.object({ kind: z.literal('tick'), atMs: z.number(), node: id }),
])
export type ResultsMessage = z.infer<typeof resultsMessage>

/** Worker → nodes, by the results exchange with the key `beats`: transient, unconfirmed, any node handles it, in any order. */
export const beatsMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('beat'),
    worker: id,
    /** Counts from 1; the answer repeats it, so that the worker knows when the beat that got through was sent. */
    beat: id,
    running: id,
    /** Runs whose handlers are at work, for the record of interrupted attempts; 500 at most. */
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

/** Node → one worker, by the default exchange to the queue of `replyTo` (exclusive, its own): transient. */
export const controlMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('joined'),
    joinId: z.string(),
    /** Its incarnation: the `worker` of all that it sends from now on. */
    worker: id,
    /** The queues to consume; they are declared. */
    consume: z.array(z.string()),
  }),
  /** It can't join as it is, e.g. because of its protocol's version. */
  z.object({ kind: z.literal('refused'), joinId: z.string(), reason: z.string() }),
  /** The answer to a beat: it is recorded. */
  z.object({
    kind: z.literal('heard'),
    worker: id,
    beat: id,
    /** False: this incarnation was declared dead; join again. */
    isKnown: z.boolean(),
    state: z.enum(['active', 'draining', 'stopping']).nullable(),
    cancellations: z.array(z.object({ id, reason: z.string().nullable() })),
    life: z.string(),
  }),
  /** The answer to a start that asks: it is recorded, and the handler may be called. */
  z.object({ kind: z.literal('started'), worker: id, runs: z.array(dispatchToken) }),
  /** The node recorded these starts too late: another worker has the runs. The worker aborts their handlers; only a success of theirs is still stored. */
  z.object({ kind: z.literal('dropped'), worker: id, runs: z.array(dispatchToken) }),
])
export type ControlMessage = z.infer<typeof controlMessage>

/** What a message carries when it has several runs. */
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

/** Reads a body; never throws. */
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
