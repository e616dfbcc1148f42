import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OwnBroker } from '../support/amqp/own-broker.ts'
import { Stage } from '../support/processes/stage.ts'
import { ApiPublisher } from './api-publisher.ts'
import { BrokerFaults } from './broker-faults.ts'
import { judge } from './checks/all-checks.ts'
import { aheadOfMonthEdgeMs, DatabaseClock } from './database-clock.ts'
import { DatabaseFaults } from './database-faults.ts'
import type { Evidence, Verdict } from './evidence.ts'
import { FailoverDatabase } from './failover-database.ts'
import { type Fault, planFaults } from './fault-plan.ts'
import {
  readFinalStates,
  readLanes,
  readMessagePartitions,
  readMessagesByKey,
  readProbes,
  readQuarantine,
  readReplays,
  readRevivals,
  readRuns,
  readSuccesses,
} from './final-states.ts'
import { Fleet } from './fleet.ts'
import { Ledger } from './ledger.ts'
import { Operators, readOperationEnds } from './operators.ts'
import { Publishers } from './publishers.ts'
import { Pulse, PulseRecord } from './pulse.ts'
import { batchEndpoint, keyedEndpoints, openReceivers, plainEndpoints, replayEndpoint } from './receivers.ts'
import { Schedules } from './schedules.ts'
import { leaksIn, leaksInTables } from './secrets.ts'
import { SeededRandom } from './seeded-random.ts'
import type { Switches } from './switches.ts'
import { overBroker, overPostgres, WorkCrew } from './work-crew.ts'

export interface TortureOptions {
  readonly seed: number
  readonly chaosMs: number
  readonly switches: Switches
  readonly progress: (message: string) => void
}

const nodeCount = 3
const workerCount = 2
/** Beside those over PostgreSQL. */
const brokerWorkerCount = 2
const brokerPrefix = 'holdfast-torture'
const quietDeadlineMs = 240_000
const tellEveryMs = 15_000
/** When the month ends, as a part of the chaos. */
const monthEdgeAt = 0.4
const endpoints = [...plainEndpoints, ...keyedEndpoints, batchEndpoint, replayEndpoint]

/** One run: everything is started, harmed, healed and judged. */
export async function torture(options: TortureOptions): Promise<Verdict[]> {
  const { seed, chaosMs, switches, progress } = options
  const random = new SeededRandom(seed)
  const faults = planFaults(random.fork('faults'), { chaosMs, nodeCount, kinds: switches.kinds })
  progress(`seed ${seed}: ${faults.length} faults in ${chaosMs / 1000} s`)
  for (const { name, why } of switches.leftOut) progress(`without ${name}: ${why}`)
  await using database = await FailoverDatabase.start({
    hasStandby: switches.kinds.includes('promote-standby'),
  })
  const aheadMs = switches.hasMonthEdge ? aheadOfMonthEdgeMs(new Date(), chaosMs * monthEdgeAt) : 0
  const clock = await DatabaseClock.install(database.url, aheadMs)
  await using stage = await Stage.open(database.url)
  const ownBroker = switches.hasBroker ? await OwnBroker.create() : null
  const broker =
    ownBroker === null ? null : { url: `amqp://guest:guest@${ownBroker.host}`, prefix: brokerPrefix }
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-torture-'))
  const databaseFaults = new DatabaseFaults({
    database,
    clock,
    pool: stage.pool,
    random: random.fork('database'),
  })
  const pulse = new Pulse(database.url)
  const publishers = new Publishers({ stage, clock, pulse, random: random.fork('publishers'), switches })
  const fleet = new Fleet({
    databaseUrl: database.url,
    databaseFaults,
    broker:
      ownBroker === null || broker === null
        ? null
        : { settings: broker, faults: new BrokerFaults(ownBroker) },
    random: random.fork('cuts'),
    accepted: publishers.books.accepted,
  })
  const operators = new Operators(stage, clock, random.fork('operators'))
  const crew = new WorkCrew(stage, overPostgres(stage.databaseUrl), random.fork('crew'))
  const brokerCrew =
    broker === null ? null : new WorkCrew(stage, overBroker(broker), random.fork('broker-crew'))
  const schedules = new Schedules(stage, clock)
  let api: ApiPublisher | null = null
  try {
    let chaosAtMs = performance.now()
    let isHealed = false
    await openReceivers(stage, {
      progress: () => (performance.now() - chaosAtMs) / chaosMs,
      isHealed: () => isHealed,
    })
    await pulse.start()
    await schedules.declare()
    await fleet.start(nodeCount)
    await crew.start(workerCount, folder)
    await brokerCrew?.start(brokerWorkerCount, folder)
    await schedules.start()
    api = await ApiPublisher.start(database.url, random.fork('api'), publishers.books.accepted)
    chaosAtMs = performance.now()
    publishers.start()
    operators.start()
    const inflicting = await inflictAll(faults, fleet, chaosAtMs, (fault) =>
      progress(
        `${fault.kind}${fault.kind === 'kill-broker' ? '' : ` node-${fault.node}`} for ${fault.lastsMs} ms; ${stage.receiver.acceptedCount} delivered`,
      ),
    )
    await pause(chaosAtMs + chaosMs - performance.now())
    await Promise.all([publishers.stop(), operators.stop(), crew.heal(), brokerCrew?.heal()])
    await Promise.all(inflicting)
    progress('healing')
    isHealed = true
    fleet.heal()
    await api.finish()
    for (const endpoint of endpoints) await stage.publisher.endpoints.enable(endpoint)
    await schedules
      .heal()
      .catch((error: unknown) => progress(`not caught up: ${String(error).slice(0, 200)}`))
    await untilQuiet(stage, crew, progress).catch((error: unknown) => {
      progress(`not quiet: ${String(error).slice(0, 200)}`)
      for (const node of fleet.nodes) progress(node.describe())
      for (const text of [...crew.describe(), ...(brokerCrew?.describe() ?? [])]) progress(text)
    })
    progress('checking')
    await api.look()
    const tables = await leaksInTables(stage.pool)
    progress('the tables were searched for secrets')
    await fleet.stop()
    progress('the nodes have stopped')
    const { pool } = stage
    const workerTexts = [...crew.texts, ...(brokerCrew?.texts ?? [])]
    const evidence: Evidence = {
      books: publishers.books,
      ledger: new Ledger(stage.receiver.requests),
      states: await readFinalStates(pool),
      successes: await readSuccesses(pool),
      probes: await readProbes(pool),
      quarantine: await readQuarantine(pool),
      revivals: await readRevivals(pool),
      lanes: new Map([...publishers.books.lanes, ...(await readLanes(pool))]),
      fleet: fleet.log,
      clock: clock.history,
      pulse: new PulseRecord(pulse.beats),
      month: { messages: await readMessagePartitions(pool) },
      plannedKinds: [...new Set(faults.map(({ kind }) => kind))],
      leftOut: switches.leftOut,
      endpoints,
      operations: await readOperationEnds(stage, operators.ordered),
      pauses: operators.pauses,
      replays: await readReplays(pool),
      api: api.books,
      messagesByKey: await readMessagesByKey(pool),
      secrets: {
        checked: tables.checked + api.texts.length + fleet.log.starts + workerTexts.length,
        leaks: [
          ...tables.leaks,
          ...leaksIn('an answer of the API', api.texts),
          ...leaksIn('what a worker said', workerTexts),
          ...fleet.log.leaks,
        ],
      },
      crew: crew.log,
      workers: crew.lives,
      brokerCrew,
      runs: await readRuns(pool),
      schedules: await schedules.readEnds(),
      ticked: crew.ticked,
    }
    progress('the evidence was read')
    // Violations name moments: these are the times that they are to be read with.
    for (const { kind, node, fromMs, untilMs } of fleet.log.struck)
      progress(`${kind} ${node ?? 'everybody'}: ${Math.round(fromMs)} to ${Math.round(untilMs)} ms`)
    return judge(evidence, chaosMs)
  } finally {
    await api?.stop()
    await crew.stop()
    await brokerCrew?.stop()
    await fleet.stop()
    await ownBroker?.stop()
    await pulse.stop()
    await clock.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Each at its time; what is returned ends when they are over. */
async function inflictAll(
  faults: readonly Fault[],
  fleet: Fleet,
  startMs: number,
  onFault: (fault: Fault) => void,
): Promise<Promise<void>[]> {
  const inflicting: Promise<void>[] = []
  for (const fault of faults) {
    await pause(startMs + fault.atMs - performance.now())
    onFault(fault)
    inflicting.push(fleet.inflict(fault))
  }
  return inflicting
}

/** Nothing is owed, by nobody: an operation that goes on would owe more. */
async function untilQuiet(stage: Stage, crew: WorkCrew, progress: (message: string) => void): Promise<void> {
  let toldAtMs = performance.now()
  await stage.until(
    async () => {
      const { data } = await stage.publisher.operations.list({ state: 'running', limit: 1 })
      const owed = { operations: data.length, runs: await crew.owed(), deliveries: await stage.owed() }
      if (performance.now() - toldAtMs > tellEveryMs) {
        toldAtMs = performance.now()
        progress(`waiting: ${JSON.stringify(owed)}, ${await mostOwed(stage)}`)
      }
      return owed
    },
    ({ operations, runs, deliveries }) => operations + runs + deliveries === 0,
    quietDeadlineMs,
    'everything to be settled',
  )
}

async function mostOwed({ pool }: Stage): Promise<string> {
  const { rows } = await pool.query<{ name: string; owed: number }>(
    `select endpoint.name, count(*)::int as owed
     from holdfast_internal.deliveries as delivery join holdfast_internal.endpoints as endpoint on endpoint.id = delivery.lane_id
     group by 1 order by 2 desc limit 5`,
  )
  return rows.map(({ name, owed }) => `${name} ${owed}`).join(', ')
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, delayMs)))
}
