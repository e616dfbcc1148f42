// A seeded run that kills, freezes and cuts off everything that Holdfast stands on, and then checks what it promises.
// npm run torture -- --seed 1 --minutes 2 [--json]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newEncryptionKey } from '../../src/secrets/keyring.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { Stage } from '../support/processes/stage.ts'
import { ApiPublisher } from './api-publisher.ts'
import { planFaults } from './fault-plan.ts'
import { readFinalStates, readMessagesByKey, readProbes, readReplays, readRuns } from './final-states.ts'
import { Fleet } from './fleet.ts'
import { checkInvariants, type Verdict } from './invariants.ts'
import { Operators, readOperationEnds } from './operators.ts'
import { Publishers } from './publishers.ts'
import { batchEndpoint, keyedEndpoints, openReceivers, plainEndpoints, replayEndpoint } from './receivers.ts'
import { Schedules } from './schedules.ts'
import { leaksIn, leaksInTables } from './secrets.ts'
import { SeededRandom } from './seeded-random.ts'
import { WorkCrew } from './work-crew.ts'

const nodeCount = 3
const workerCount = 2
const quietDeadlineMs = 120_000
const maxShownViolations = 5
/** A run of this length must have judged every invariant. */
const judgeAllFromMs = 120_000
const endpoints = [...plainEndpoints, ...keyedEndpoints, batchEndpoint, replayEndpoint]

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const chaosMs = Number(values.minutes) * 60_000
if (!Number.isInteger(seed) || !(chaosMs > 0)) {
  process.stderr.write('Usage: npm run torture -- --seed <whole number> --minutes <number> [--json]\n')
  process.exit(2)
}

// The node processes inherit it.
process.env['HOLDFAST_ENCRYPTION_KEY'] ??= newEncryptionKey()

const startedAtMs = performance.now()
function progress(message: string): void {
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  process.stderr.write(`${seconds.padStart(7)} s  ${message}\n`)
}

async function run(): Promise<Verdict[]> {
  const random = new SeededRandom(seed)
  const faults = planFaults(random.fork('faults'), chaosMs, nodeCount)
  progress(`seed ${seed}: ${faults.length} faults in ${chaosMs / 1000} s`)
  await using database = await DatabaseProcess.start()
  await using stage = await Stage.open(database.url)
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-torture-'))
  const publishers = new Publishers(stage, random.fork('publishers'))
  const fleet = new Fleet(database, random.fork('cuts'), publishers.books.accepted)
  const operators = new Operators(stage, random.fork('operators'))
  const crew = new WorkCrew(stage, random.fork('crew'))
  const schedules = new Schedules(stage)
  let api: ApiPublisher | null = null
  try {
    let chaosAtMs = performance.now()
    let isHealed = false
    await openReceivers(stage, {
      progress: () => (performance.now() - chaosAtMs) / chaosMs,
      isHealed: () => isHealed,
    })
    await fleet.start(nodeCount)
    await crew.start(workerCount, folder)
    await schedules.start()
    api = await ApiPublisher.start(database.url, random.fork('api'), publishers.books.accepted)
    chaosAtMs = performance.now()
    publishers.start()
    operators.start()
    const inflicting: Promise<void>[] = []
    for (const fault of faults) {
      await pause(chaosAtMs + fault.atMs - performance.now())
      progress(
        `${fault.kind} node-${fault.node} for ${fault.lastsMs} ms; ${stage.receiver.acceptedCount} delivered`,
      )
      inflicting.push(fleet.inflict(fault))
    }
    await pause(chaosAtMs + chaosMs - performance.now())
    await Promise.all([publishers.stop(), operators.stop(), crew.heal()])
    await Promise.all(inflicting)
    progress('healing')
    isHealed = true
    fleet.heal()
    await api.finish()
    for (const endpoint of endpoints) await stage.publisher.endpoints.enable(endpoint)
    await schedules.heal()
    await untilQuiet(stage, crew).catch((error: unknown) => {
      progress(`not quiet: ${String(error).slice(0, 200)}`)
      for (const node of fleet.nodes) progress(node.describe())
      for (const text of crew.describe()) progress(text)
    })
    progress('checking')
    await api.look()
    const tables = await leaksInTables(stage.pool)
    await fleet.stop()
    const evidence = {
      books: publishers.books,
      states: await readFinalStates(stage.pool),
      probes: await readProbes(stage.pool),
      receiver: stage.receiver,
      fleet: fleet.log,
      endpoints,
      operations: await readOperationEnds(stage, operators.ordered),
      pauses: operators.pauses,
      replays: await readReplays(stage.pool),
      api: api.books,
      messagesByKey: await readMessagesByKey(stage.pool),
      secrets: {
        checked: tables.checked + api.texts.length + fleet.log.starts + crew.texts.length,
        leaks: [
          ...tables.leaks,
          ...leaksIn('an answer of the API', api.texts),
          ...leaksIn('what a worker said', crew.texts),
          ...fleet.log.leaks,
        ],
      },
      crew: crew.log,
      begun: crew.begun,
      leasesLost: crew.leasesLost,
      runs: await readRuns(stage.pool),
      schedules: await schedules.readEnds(),
      ticked: crew.ticked,
    }
    return checkInvariants(evidence, chaosMs >= judgeAllFromMs)
  } finally {
    await api?.stop()
    await crew.stop()
    await fleet.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Nothing is owed, by nobody: an operation that goes on would owe more. */
async function untilQuiet(stage: Stage, crew: WorkCrew): Promise<void> {
  await stage.until(
    async () => {
      const { data } = await stage.publisher.operations.list({ state: 'running', limit: 1 })
      return { operations: data.length, runs: await crew.owed(), deliveries: await stage.owed() }
    },
    ({ operations, runs, deliveries }) => operations + runs + deliveries === 0,
    quietDeadlineMs,
    'everything to be settled',
  )
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, delayMs)))
}

function report(verdicts: readonly Verdict[]): void {
  const width = Math.max(...verdicts.map(({ invariant }) => invariant.length))
  process.stdout.write(`${'invariant'.padEnd(width)} | checked | violations\n`)
  process.stdout.write(`${'-'.repeat(width)} | ------- | ----------\n`)
  for (const { invariant, checked, violations } of verdicts) {
    process.stdout.write(
      `${invariant.padEnd(width)} | ${String(checked).padStart(7)} | ${String(violations.length).padStart(10)}\n`,
    )
    for (const violation of violations.slice(0, maxShownViolations))
      process.stdout.write(`    ${violation}\n`)
  }
}

const verdicts = await run()
const violated = verdicts.filter(({ violations }) => violations.length > 0)
if (values.json) process.stdout.write(`${JSON.stringify({ seed, chaosMs, verdicts })}\n`)
else report(verdicts)
if (violated.length > 0) {
  process.stderr.write(
    `${violated.length} invariants were violated. Again: npm run torture -- --seed ${seed} --minutes ${values.minutes}\n`,
  )
  process.exitCode = 1
}
