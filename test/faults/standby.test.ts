import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { until } from '../support/engine/until.ts'
import { type Acknowledged, AcknowledgedLoad } from '../support/processes/acknowledged-load.ts'
import { ReplicatedDatabase, replicationSkipped } from '../support/processes/replicated-database.ts'
import { Stage } from '../support/processes/stage.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'
import { Gate } from '../support/receivers/gate.ts'

if (replicationSkipped !== null) console.warn(`standby failover is not tested: ${replicationSkipped}`)

type Phase =
  /** The standby has it. */
  | 'before'
  /** Only the primary that is going to die has it. */
  | 'unreplicated'
  /** The standby has been promoted. */
  | 'after'

const endpoints = ['one', 'two', 'three']
const slow = 'slow'
/** As the worker processes define it. */
const work = defineJob({
  name: 'work',
  queue: 'work',
  retry: { strategy: 'fixed', baseDelayMs: 50, maxRetries: 5, jitter: 'none' },
})
const perPublisher = 60
const runs = 8
const limits = { heartbeatMs: 500, leaseMs: 4000, slowPollMs: 200, stopTimeoutMs: 5000 }

const open: AsyncDisposable[] = []

afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource[Symbol.asyncDispose]()
})

/** Two nodes, two workers and publishers of every kind, all by the URL that names both servers. */
async function setUp(isSynchronous: boolean) {
  const database = await ReplicatedDatabase.start({ isSynchronous })
  open.push(database)
  const stage = await Stage.open(database.url)
  open.push(stage)
  for (const name of [...endpoints, slow]) await stage.endpoint(name, { limits: { concurrency: 16 } })
  await stage.publisher.jobs.declare(work)
  const nodes = await stage.startNodes(['a', 'b'])
  await stage.balanced(nodes)
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-standby-workers-'))
  open.push({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) })
  const workers = await Promise.all(
    ['w1', 'w2'].map(async (name) => {
      const settings = { databaseUrl: database.url, name, limits, concurrency: runs }
      const worker = await WorkerProcess.start({ ...settings, journalFolder: join(folder, name) })
      open.push(worker)
      return worker
    }),
  )
  const { publisher, pool } = stage
  const load = new AcknowledgedLoad<Phase>('before', { publisher, pool, endpoints, job: work })
  open.push({ [Symbol.asyncDispose]: () => load.stop() })
  return { database, stage, workers, load }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

const messagesOf = (acknowledged: readonly Acknowledged<Phase>[]) =>
  acknowledged.filter(({ kind }) => kind === 'message')

async function acknowledgedIn(
  load: AcknowledgedLoad<Phase>,
  phase: Phase,
  least = perPublisher,
): Promise<void> {
  await until(
    `every publisher to get answers ("${phase}")`,
    () => load.least(phase),
    (count) => count >= least,
    60_000,
  )
}

/** What the database says of messages that never arrived: still owed, recorded as delivered, or unknown. */
async function whereabouts(stage: Stage, missing: readonly Acknowledged<Phase>[]): Promise<string> {
  const { rows } = await stage.pool.query<{ id: string; isOwed: boolean; isDone: boolean }>(
    `select id, exists (select from holdfast_internal.deliveries where message_id = holdfast.parse_id('msg', id)) as "isOwed",
            exists (select from holdfast_internal.attempts
                    where delivery_id = holdfast.parse_id('msg', id) and outcome = 1) as "isDone"
     from unnest($1::text[]) as id`,
    [missing.map(({ id }) => id)],
  )
  const stateOf = new Map(
    rows.map(({ id, isOwed, isDone }) => [
      id,
      isDone ? 'recorded as delivered' : isOwed ? 'owed' : 'unknown',
    ]),
  )
  const states = groupsOf(missing, ({ id, phase }) => `published ${phase}, ${stateOf.get(id)}`)
  return states.map((same) => `${same.length} ${same[0]!.phase}: ${stateOf.get(same[0]!.id)}`).join('\n')
}

/** Every message arrived, every run was executed, and the database says so of the right ones. */
async function expectAllDone({ stage, workers }: SetUp, acknowledged: readonly Acknowledged<Phase>[]) {
  const messages = messagesOf(acknowledged)
  const ids = messages.map(({ id }) => id)
  await stage.receiver.whenAccepted(ids, 60_000).catch(async (error: Error) => {
    const missing = messages.filter(({ id }) => !stage.receiver.hasAccepted(id))
    throw new Error(`${error.message}\n${await whereabouts(stage, missing)}`)
  })
  const finished = () =>
    new Set(workers.flatMap(({ signals }) => signals.flatMap((s) => (s.event === 'finished' ? [s.n] : []))))
  await until(
    'every acknowledged run to be executed',
    () => acknowledged.filter(({ kind, n }) => kind === 'run' && !finished().has(n)).map(({ n }) => n),
    (left) => left.length === 0,
    60_000,
  )
  await stage.settled(60_000)
  await until(
    'every run to be settled',
    async () => (await stage.pool.query('select from holdfast_internal.runs')).rowCount,
    (count) => count === 0,
    60_000,
  )
  const { rows } = await stage.pool.query<{ id: string; endpoint: string }>(
    `select holdfast.format_id('msg', attempt.message_id) as id, endpoint.name as endpoint
     from holdfast_internal.attempts as attempt
     join holdfast_internal.endpoints as endpoint on endpoint.id = attempt.lane_id where attempt.outcome = 1`,
  )
  const deliveredTo = new Map(rows.map(({ id, endpoint }) => [id, endpoint]))
  const misfiled = messages.filter(({ id, endpoint }) => deliveredTo.get(id) !== endpoint)
  expect(misfiled.slice(0, 5)).toEqual([])
}

function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return [...groups.values()]
}

/** An id names one thing for ever: receivers tell duplicates by it. */
function expectNoIdTwice({ stage, load }: SetUp): void {
  const twice = groupsOf(load.ledger, ({ kind, id }) => `${kind} ${id}`).filter(({ length }) => length > 1)
  expect.soft(twice.slice(0, 5), `${twice.length} ids were acknowledged twice`).toEqual([])
  const sent = stage.receiver.requests.map(({ webhookId, endpoint, body }) => ({ webhookId, endpoint, body }))
  const reused = groupsOf(sent, ({ webhookId }) => webhookId).filter(
    (same) => new Set(same.map((request) => JSON.stringify(request))).size > 1,
  )
  expect.soft(reused.slice(0, 5), `${reused.length} webhook-ids came with two bodies`).toEqual([])
}

async function expectNothingBroken({ stage }: SetUp): Promise<void> {
  const { rows } = await stage.pool.query(
    `select (select count(*)::int from holdfast_internal.quarantine) as quarantined,
            (select count(*)::int from holdfast_internal.dead_letters) as dead`,
  )
  expect(rows).toEqual([{ quarantined: 0, dead: 0 }])
}

describe.skipIf(replicationSkipped !== null)(
  'the primary is killed under load and the standby promoted',
  () => {
    test('loses no acknowledged message with synchronous replication', async () => {
      const all = await setUp(true)
      const { database, stage, load } = all
      load.start()
      await acknowledgedIn(load, 'before')
      await database.killPrimary()
      const killedAtMs = performance.now()
      await database.promote()
      const promotedMs = performance.now() - killedAtMs
      const acceptedBefore = stage.receiver.acceptedCount
      load.phase = 'after'
      await stage.receiver.when(
        () => stage.receiver.acceptedCount > acceptedBefore + 50,
        60_000,
        () => 'nothing arrived after the promotion',
      )
      const resumedMs = performance.now() - killedAtMs
      await acknowledgedIn(load, 'after')
      await load.stop()
      expectNoIdTwice(all)
      await expectAllDone(all, load.ledger)
      await expectNothingBroken(all)
      console.log(
        `synchronous: ${load.ledger.length} acknowledged (${load.of('before').length} before the promotion), promoted after ` +
          `${Math.round(promotedMs)} ms, delivering after ${Math.round(resumedMs)} ms, ${stage.receiver.duplicateCount} sent twice`,
      )
    })

    test('loses with asynchronous replication only what the server lost', async () => {
      const all = await setUp(false)
      const { database, stage, workers, load } = all
      load.start()
      await acknowledgedIn(load, 'before')
      await load.stop()
      // Ids jump when they lag five seconds behind the clock. They have just caught up: nothing carries them past those that will be lost.
      await stage.pool.query(
        `select setval('holdfast_internal.ids', holdfast_internal.id_at(clock_timestamp()))`,
      )
      await database.cutReplication()
      const cutAtMs = performance.now()

      // Requests and runs that are out over the whole failover: their results come back to a server that never knew them.
      const gate = new Gate()
      stage.receiver.behave(slow, async () => {
        await gate.passed()
        return { status: 200 }
      })
      load.phase = 'unreplicated'
      load.start()
      const waiting = Array.from({ length: runs }, (_, index) => -1 - index)
      await Promise.all([
        stage.publish(slow, 16),
        stage.publisher.enqueueBatch(
          work,
          waiting.map((n) => ({ input: { n, does: 'wait' } })),
        ),
      ])
      await stage.receiver.when(
        () => stage.receiver.outNow(slow) === 16,
        30_000,
        () => 'the slow requests never came',
      )
      await until('the slow runs to be out', () => {
        const ran = new Set(workers.flatMap((worker) => worker.ran))
        return waiting.every((n) => ran.has(n))
      })
      await acknowledgedIn(load, 'unreplicated', 20)

      await database.killPrimary()
      await database.promote()
      load.phase = 'after'
      const unreplicatedMs = performance.now() - cutAtMs
      console.log(`asynchronous: promoted ${Math.round(unreplicatedMs)} ms after the replication was cut`)
      await acknowledgedIn(load, 'after')
      gate.open()
      for (const worker of workers) for (const n of waiting) worker.finish(n)
      const reached = load.ledger.length
      await until(
        'acknowledgements beside the late results',
        () => load.ledger.length - reached,
        (count) => count >= 300,
        30_000,
      )
      await load.stop()
      expectNoIdTwice(all)
      await expectAllDone(all, load.of('before', 'after'))
      await expectNothingBroken(all)
      const lost = messagesOf(load.of('unreplicated')).filter(({ id }) => !stage.receiver.hasAccepted(id))
      console.log(
        `asynchronous: ${load.of('unreplicated').length} acknowledged by the dead primary alone, ${lost.length} of their messages never sent; ` +
          `${load.of('before', 'after').length} others all done, ${stage.receiver.duplicateCount} sent twice`,
      )
    })
  },
)
