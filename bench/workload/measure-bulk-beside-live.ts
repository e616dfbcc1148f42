import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { percentile } from '../harness/statistics.ts'
import { checkpoint } from './checkpoint.ts'
import { createEndpoints, HANDLER, MAX_PENDING } from './endpoints.ts'
import { makePayload } from './payload.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'

const LIVE_PER_SECOND = 500
const TICK_MS = 10
const ALONE_MS = 15_000
/** A bulk action that ends sooner is observed only while it runs. */
const MIN_WATCHED_MS = 2000
const POLL_MS = 50
/** A latency that is always acceptable, whatever it was without the action. */
const UNNOTICED_MS = 50
const HOUR_MS = 3_600_000

/**
 * p99 from publish to handler of 500 messages a second while 300,000 deliveries of another endpoint are cancelled, redriven, replayed, or cancelled
 * by its deletion, divided by the allowed value: twice the p99 without the action, or 50 ms. The worst of these actions. The tables are never
 * analysed.
 */
export async function measureBulkBesideLive(context: SampleContext): Promise<Sample> {
  const { databaseUrl } = context
  const rows = Math.round(context.messages * 3)
  const live = new LiveTraffic()
  const holdfast = new Holdfast({
    databaseUrl,
    handlers: { [HANDLER]: (message) => live.arrived(message.payload) },
  })
  const client = new Client({ connectionString: databaseUrl })
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, MAX_PENDING)
    await createEndpoints(holdfast, ['live', 'cancelled', 'redriven', 'replayed', 'deleted'])
    for (const name of ['cancelled', 'redriven', 'replayed', 'deleted']) await holdfast.endpoints.pause(name)
    await client.connect()
    await fill(client, rows)
    await checkpoint(databaseUrl)
    await holdfast.start()
    await live.watch(holdfast, sleep(MIN_WATCHED_MS))
    const aloneMs = percentile(await live.watch(holdfast, sleep(ALONE_MS)), 0.99)
    const allowedMs = Math.max(2 * aloneMs, UNNOTICED_MS)
    const details: Record<string, number> = { aloneP99Ms: aloneMs, allowedMs }
    const now = Date.now()
    const actions: Record<string, () => Promise<string | null>> = {
      cancel: async () =>
        (await holdfast.operations.create({ kind: 'cancel', filter: { endpoint: 'cancelled' } })).id,
      redrive: async () =>
        (await holdfast.operations.create({ kind: 'redrive', filter: { endpoint: 'redriven' } })).id,
      replay: async () =>
        (
          await holdfast.replays.create({
            endpoint: 'replayed',
            state: 'succeeded',
            from: new Date(now - 24 * HOUR_MS),
            to: new Date(now + HOUR_MS),
          })
        ).id,
      delete: async () => (await holdfast.endpoints.remove('deleted', { force: true })).operation,
    }
    for (const [name, begin] of Object.entries(actions)) {
      const startedMs = performance.now()
      const latenciesMs = await live.watch(holdfast, whenDone(holdfast, begin, rows))
      details[`${name}P99Ms`] = percentile(latenciesMs, 0.99)
      details[`${name}MaxMs`] = Math.max(...latenciesMs)
      details[`${name}Seconds`] = (performance.now() - startedMs) / 1000
      process.stderr.write(
        `${name}: p99 ${details[`${name}P99Ms`]?.toFixed(1)} ms of ${allowedMs.toFixed(1)} ms, alone ${aloneMs.toFixed(1)} ms, ${details[`${name}Seconds`]?.toFixed(0)} s\n`,
      )
    }
    const worstMs = Math.max(...Object.keys(actions).map((name) => details[`${name}P99Ms`] ?? Number.NaN))
    return { value: worstMs / allowedMs, details, settings: { rows, livePerSecond: LIVE_PER_SECOND } }
  } finally {
    await client.end()
    await holdfast.stop()
  }
}

async function whenDone(
  holdfast: Holdfast,
  begin: () => Promise<string | null>,
  rows: number,
): Promise<void> {
  const startedMs = performance.now()
  const id = await begin()
  if (id === null) throw new Error('no operation was made')
  for (;;) {
    const { state, done, error } = await holdfast.operations.get(id)
    if (state === 'succeeded') {
      if (done !== rows) throw new Error(`the operation touched ${done} of ${rows}`)
      break
    }
    if (state !== 'running') throw new Error(`the operation ended as ${state} after ${done}: ${error}`)
    await sleep(POLL_MS)
  }
  await sleep(Math.max(0, MIN_WATCHED_MS - (performance.now() - startedMs)))
}

class LiveTraffic {
  readonly #publishedMs = new Map<number, number>()
  #latenciesMs: number[] = []
  #sequence = 0

  arrived(payload: unknown): void {
    const { sequence } = payload as { sequence: number }
    const publishedMs = this.#publishedMs.get(sequence)
    if (publishedMs === undefined) return
    this.#publishedMs.delete(sequence)
    this.#latenciesMs.push(performance.now() - publishedMs)
  }

  /** Publishes on a fixed schedule, without waiting for earlier messages, until `other` has ended and all messages have arrived. */
  async watch(holdfast: Holdfast, other: Promise<unknown>): Promise<readonly number[]> {
    this.#latenciesMs = []
    const over = new AbortController()
    const ended = other.finally(() => over.abort())
    const sends: Promise<unknown>[] = []
    const startedMs = performance.now()
    for (let sent = 0; !over.signal.aborted; ) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * LIVE_PER_SECOND)
      for (; sent < due; sent += 1) {
        const sequence = this.#sequence++
        this.#publishedMs.set(sequence, performance.now())
        sends.push(holdfast.send('live', makePayload(sequence)))
      }
      await sleep(TICK_MS)
    }
    await ended
    await Promise.all(sends)
    while (this.#publishedMs.size > 0) await sleep(TICK_MS)
    return this.#latenciesMs
  }
}

/** Stores as many pending, dead and delivered rows as the actions affect, by SQL; not part of the measurement. */
async function fill(client: Client, rows: number): Promise<void> {
  await client.query(`
    set synchronous_commit = off;
    create temporary table lanes as select name, id from holdfast_internal.endpoints;
    create temporary table filled as
      select n, name, lanes.id as lane, holdfast_internal.id_at(now() - interval '2 hours') + (n * 8 + array_position(array['cancelled', 'deleted', 'redriven', 'replayed'], name)) as id
      from generate_series(1, ${rows}) as n cross join lanes where name <> 'live';
    insert into holdfast_internal.messages (id, size, type, body) select id, 200, 'bulk', json_build_object('sequence', -1, 'text', repeat('x', 150)) from filled;
    insert into holdfast_internal.deliveries (id, message_id, lane_id, size) select id, id, lane, 200 from filled where name in ('cancelled', 'deleted');
    insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, status_code, error, criticality, priority, attempt, attempts)
      select id, id, id, lane, 'retries_exhausted', 2, 503, 'busy', 1, 0, 1, '[]' from filled where name = 'redriven';
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, status_code)
      select id, id, now(), 1, 1, lane, 1, 200 from filled where name = 'replayed'`)
}
