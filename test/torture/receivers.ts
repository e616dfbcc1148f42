import type { EndpointChanges } from '../../src/index.ts'
import type { Stage } from '../support/processes/stage.ts'
import type { TallyBehaviour } from '../support/processes/tally-receiver.ts'
import { tortureSecrets } from './secrets.ts'

/** What the receivers need to know of the run. */
export interface RunClock {
  /** From 0 at the start to 1 at the end of the chaos. */
  progress(): number
  /** From then on everybody is well. */
  isHealed(): boolean
}

interface Receiver {
  readonly name: string
  readonly settings: EndpointChanges
  readonly behave: (clock: RunClock) => TallyBehaviour
}

const ok = { status: 200 }
const patient = { baseDelayMs: 200, maxDelayMs: 2000, maxRetries: 1000 }
const circuit = { threshold: 5, cooldownMs: 1000 }

/** A number in [0, 1) that depends on the message and the attempt, not on chance. */
function lot(webhookId: string, attempt: number): number {
  let hash = attempt
  for (const character of webhookId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

export const numberOf = (body: unknown): number => (body as { n: number }).n
const pause = (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs))

/** Its rate must hold over all nodes together. */
export const limitedEndpoint = { name: 'limited', ratePerSecond: 60 } as const
/** Gets several messages in one request; what arrived is known by the number in each. */
export const batchEndpoint = 'batching'
/** Those that somebody pauses and resumes. */
export const pausedEndpoints = ['flaky', 'slow', 'keyed-steady'] as const

/** Where replays go: apart, so that what they do to a message isn't mistaken for its own fate. */
export const replayEndpoint = 'replays'

const receivers: readonly Receiver[] = [
  { name: replayEndpoint, settings: { retry: patient }, behave: () => () => ok },
  ...[0, 1, 2].map((index) => ({
    name: `healthy-${index}`,
    settings: { retry: patient, limits: { concurrency: 16 } },
    behave: () => () => ok,
  })),
  {
    name: limitedEndpoint.name,
    settings: { retry: patient, limits: { ratePerSecond: limitedEndpoint.ratePerSecond } },
    behave: () => () => ok,
  },
  {
    name: batchEndpoint,
    settings: { retry: patient, circuit, batch: { maxMessages: 10, maxWaitMs: 50 } },
    behave: (clock) => (request) => {
      // A bad message spoils its batch until it stands alone.
      if ((request.body as unknown[]).some((body) => numberOf(body) % 50 === 0)) return { status: 400 }
      return !clock.isHealed() && lot(request.webhookId, request.attempt) < 0.1 ? { status: 500 } : ok
    },
  },
  {
    name: 'flaky',
    settings: { retry: patient, circuit },
    behave:
      (clock) =>
      ({ webhookId, attempt }) =>
        !clock.isHealed() && lot(webhookId, attempt) < 0.25 ? { status: 500 } : ok,
  },
  {
    name: 'slow',
    settings: { retry: patient, limits: { concurrency: 8 } },
    behave: (clock) => async (request) => {
      await pause(clock.isHealed() ? 20 : 50 + lot(request.webhookId, 1) * 400)
      return ok
    },
  },
  {
    name: 'dead-for-a-while',
    settings: { retry: patient, circuit },
    behave: (clock) => async (request) => {
      const progress = clock.progress()
      // Again and again, so that its circuit opens and closes often.
      const isDead = progress > 0.25 && progress < 0.6 && (progress * 40) % 2 < 1 && !clock.isHealed()
      // Long enough for something else to be sent beside a probe, if anything would; some answers take longer than the circuit's cooldown,
      // so that requests from before it opened are still out when a probe is due.
      const isSlow = isDead && lot(request.webhookId, request.attempt) < 0.3
      await pause(isSlow ? circuit.cooldownMs * 1.5 : isDead ? 250 : 20)
      return isDead ? { status: 503 } : ok
    },
  },
  {
    name: 'exhausting',
    settings: { retry: { ...patient, maxRetries: 2 }, circuit: { threshold: 1000 } },
    behave: () => (request) => (numberOf(request.body) % 10 === 0 ? { status: 500 } : ok),
  },
  {
    name: 'gone',
    settings: { retry: patient },
    behave: () => (request) => (numberOf(request.body) % 7 === 0 ? { status: 410 } : ok),
  },
  {
    name: 'throttling',
    settings: { retry: patient },
    behave: (clock) => (request) => {
      const isThrottling = clock.progress() > 0.3 && clock.progress() < 0.5 && !clock.isHealed()
      return isThrottling && lot(request.webhookId, request.attempt) < 0.5
        ? { status: 429, headers: { 'retry-after': '1' } }
        : ok
    },
  },
  {
    name: 'rejecting-for-a-while',
    settings: { retry: patient },
    behave: (clock) => () =>
      clock.progress() > 0.4 && clock.progress() < 0.6 && !clock.isHealed() ? { status: 401 } : ok,
  },
  {
    name: 'keyed-steady',
    settings: { retry: patient },
    behave: () => async () => {
      await pause(5)
      return ok
    },
  },
  {
    name: 'keyed-flaky',
    settings: { retry: patient, circuit },
    behave:
      (clock) =>
      ({ webhookId, attempt }) =>
        !clock.isHealed() && lot(webhookId, attempt) < 0.15 ? { status: 500 } : ok,
  },
]

export const keyedEndpoints = ['keyed-steady', 'keyed-flaky'] as const
export const plainEndpoints = receivers
  .map(({ name }) => name)
  .filter((name) => !name.startsWith('keyed') && name !== replayEndpoint && name !== batchEndpoint)
/** Those that leave dead letters. */
export const letterEndpoints = ['exhausting', 'gone', 'rejecting-for-a-while'] as const
export const concurrencyOf = (endpoint: string): number =>
  receivers.find(({ name }) => name === endpoint)?.settings.limits?.concurrency ?? 64

/** How many deliveries may be out at once: a request carries one, or a batch. */
export function deliveriesInFlight(endpoint: string): number {
  const batch = receivers.find(({ name }) => name === endpoint)?.settings.batch
  return concurrencyOf(endpoint) * (batch?.maxMessages ?? 1)
}

export async function openReceivers(stage: Stage, clock: RunClock): Promise<void> {
  for (const { name, settings, behave } of receivers) {
    await stage.endpoint(name, {
      ...settings,
      config: {
        auth: { type: 'bearer', token: tortureSecrets.token },
        headers: { 'x-shop-secret': tortureSecrets.header },
        signing: { scheme: 'standard-webhooks', secret: tortureSecrets.signing },
      },
    })
    stage.receiver.behave(name, behave(clock))
  }
}
