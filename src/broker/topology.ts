/** Options for the exchanges and queues of broker mode. Names begin with the prefix, so that two installations can share a virtual host. */
export interface TopologyOptions {
  /** `holdfast` by default. */
  readonly prefix: string
  /** How long a dead-lettered message waits for a node. */
  readonly deadLetterTtlMs: number
  /** How often dying consumers may return a dispatched message before the broker dead-letters it. */
  readonly deliveryLimit: number
}

export const defaultTopology: TopologyOptions = {
  prefix: 'holdfast',
  deadLetterTtlMs: 86_400_000,
  deliveryLimit: 20,
}

export interface DeclaredExchange {
  readonly name: string
  readonly type: 'topic' | 'direct'
}

export interface DeclaredQueue {
  readonly name: string
  readonly arguments: Readonly<Record<string, string | number | boolean>>
  readonly bindings: readonly { readonly exchange: string; readonly key: string }[]
}

/** Routing keys of messages from workers. */
export const resultsKey = 'results'
export const beatsKey = 'beats'

/**
 * A limit that is never reached. RabbitMQ 3.10 has no limit by default, but 4 has one of 20, after which it would drop messages of a queue that has no
 * dead-letter exchange.
 */
const neverReached = 1_000_000_000
/** Old heartbeats are worthless. */
const beatTtlMs = 30_000
const maxBeats = 100_000

export interface TopologyNames {
  /** Topic exchange for dispatched runs. */
  readonly dispatch: string
  /** Direct exchange for messages of workers. */
  readonly results: string
  readonly resultsQueue: string
  readonly beatsQueue: string
  /** Topic exchange for messages that expired, were rejected or reached the delivery limit. */
  readonly deadLetters: string
  readonly deadLetterQueue: string
}

export function topologyNames(prefix: string): TopologyNames {
  return {
    dispatch: `${prefix}.dispatch`,
    results: `${prefix}.results`,
    resultsQueue: `${prefix}.results.queue`,
    beatsQueue: `${prefix}.beats.queue`,
    deadLetters: `${prefix}.dlx`,
    deadLetterQueue: `${prefix}.dlx.queue`,
  }
}

export function exchangesOf({ prefix }: TopologyOptions): readonly DeclaredExchange[] {
  const names = topologyNames(prefix)
  return [
    { name: names.dispatch, type: 'topic' },
    { name: names.results, type: 'direct' },
    // A direct exchange takes "#" literally and would drop every dead letter; a topic exchange routes all of them.
    { name: names.deadLetters, type: 'topic' },
  ]
}

/** The queues that always exist; those of job queues and workers are declared when a worker joins. */
export function fixedQueuesOf({ prefix, deadLetterTtlMs }: TopologyOptions): readonly DeclaredQueue[] {
  const names = topologyNames(prefix)
  return [
    {
      name: names.resultsQueue,
      // A single active consumer, so that a start is handled before the result of its run. If its node stops, the broker chooses another.
      arguments: {
        'x-queue-type': 'quorum',
        'x-single-active-consumer': true,
        'x-delivery-limit': neverReached,
      },
      bindings: [{ exchange: names.results, key: resultsKey }],
    },
    {
      name: names.beatsQueue,
      // Not a classic queue: it would be lost with the one cluster node that holds it, and workers would be declared dead.
      arguments: {
        'x-queue-type': 'quorum',
        'x-message-ttl': beatTtlMs,
        'x-max-length': maxBeats,
        'x-delivery-limit': neverReached,
      },
      bindings: [{ exchange: names.results, key: beatsKey }],
    },
    {
      name: names.deadLetterQueue,
      // No dead-letter exchange of its own: a message that no node fetched in this time is dropped, and the sweep settles its run.
      arguments: {
        'x-queue-type': 'quorum',
        'x-message-ttl': deadLetterTtlMs,
        'x-delivery-limit': neverReached,
      },
      bindings: [{ exchange: names.deadLetters, key: '#' }],
    },
  ]
}

/** The queue that all workers of a job queue share. */
export function sharedQueue(options: TopologyOptions, queue: string): DeclaredQueue {
  const { dispatch } = topologyNames(options.prefix)
  return {
    name: `${options.prefix}.queue.${queue}`,
    arguments: dispatchArguments(options),
    bindings: [{ exchange: dispatch, key: `queue.${word(queue)}.*` }],
  }
}

/**
 * The queue of the workers of one name. `x-message-ttl` of a queue can't be changed, so a TTL other than the default is part of the name; messages in
 * the queue of the former TTL are consumed or expire there.
 */
export function workerQueue(options: TopologyOptions, worker: string, ttlMs: number): DeclaredQueue {
  const { dispatch } = topologyNames(options.prefix)
  const version = ttlMs === defaultWorkerTtlMs ? '' : `.ttl-${ttlMs}`
  return {
    name: `${options.prefix}.worker.${worker}${version}`,
    arguments: { ...dispatchArguments(options), 'x-message-ttl': ttlMs },
    bindings: [{ exchange: dispatch, key: workerKey(worker, ttlMs) }],
  }
}

const defaultWorkerTtlMs = 300_000

/** Routing key of a run that any worker of its queue may take. */
export function sharedKey(queue: string, job: string): string {
  return `queue.${word(queue)}.${word(job)}`
}

/** Routing key of a run for the workers of one name. */
export function workerKey(worker: string, ttlMs: number): string {
  return `worker.${word(worker)}.${ttlMs}`
}

export type QueueKind = 'results' | 'beats' | 'dead_letters' | 'shared' | 'worker'

export interface KnownQueue {
  readonly kind: QueueKind
  readonly declared: DeclaredQueue
}

/** The declaration of a queue that nodes have recorded; null if it belongs to another prefix. */
export function knownQueue(
  options: TopologyOptions,
  noted: { readonly name: string; readonly worker: string | null; readonly ttlMs: number | null },
): KnownQueue | null {
  const { name, worker, ttlMs } = noted
  if (worker !== null && ttlMs !== null) {
    const declared = workerQueue(options, worker, ttlMs)
    return declared.name === name ? { kind: 'worker', declared } : null
  }
  const names = topologyNames(options.prefix)
  const fixed = fixedQueuesOf(options).find((queue) => queue.name === name)
  if (fixed !== undefined) {
    const kind =
      name === names.resultsQueue ? 'results' : name === names.beatsQueue ? 'beats' : 'dead_letters'
    return { kind, declared: fixed }
  }
  const shared = `${options.prefix}.queue.`
  if (!name.startsWith(shared)) return null
  return { kind: 'shared', declared: sharedQueue(options, name.slice(shared.length)) }
}

function dispatchArguments({ prefix, deliveryLimit }: TopologyOptions) {
  return {
    'x-queue-type': 'quorum',
    'x-dead-letter-exchange': topologyNames(prefix).deadLetters,
    // With the default, at-most-once, a dead letter is lost if it can't be routed at that moment. at-least-once requires reject-publish.
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
    'x-delivery-limit': deliveryLimit,
  }
}

/** A name as one word of a topic: its dots would be separators, and "*" and "#" wildcards. */
function word(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E').replaceAll('*', '%2A')
}
