import { HoldfastError } from '../../core/errors.ts'
import { assertSchema, readSchemaNumber } from '../../postgres/schema.ts'
import type { Database } from '../../storage/database.ts'
import { readNodeShares } from '../../storage/nodes.ts'
import { readPartitions } from '../../storage/partitions.ts'
import { countQuarantine } from '../../storage/quarantine.ts'
import { listSources } from '../../storage/sources.ts'
import { readTroubledLanes, type TroubledLane } from '../../storage/troubled-lanes.ts'
import { readBrokerStatus } from '../broker.ts'
import { type Check, type Finding, fail, ok, warn } from './check.ts'

export async function checkMigrations(database: Database): Promise<Finding> {
  try {
    await assertSchema(database.pool)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const advice =
      error.code === 'not_migrated' ? 'Run: holdfast migrate' : 'Install the version that migrated it.'
    return fail('migrations', error.message, advice)
  }
  return ok('migrations', `the schema is at ${await readSchemaNumber(database.pool)}, up to date`)
}

const upkeep = 'Run in SQL: select holdfast.maintain_partitions(3)'

async function checkPartitions(database: Database): Promise<Finding> {
  const partitions = await readPartitions(database)
  const missing = partitions.filter(({ hasThisMonth }) => !hasThisMonth).map(({ parent }) => parent)
  if (missing.length > 0)
    return fail('partitions', `${missing.join(' and ')} have no partition for this month`, upkeep)
  const strays = partitions.filter(({ strayRows }) => strayRows > 0)
  if (strays.length > 0) {
    const counted = strays.map(
      ({ parent, strayRows }) => `${strayRows >= 1000 ? 'over ' : ''}${strayRows} in ${parent}_default`,
    )
    return warn(
      'partitions',
      `rows outside of any monthly partition: ${counted.join(', ')}. They are delivered normally`,
      `They prevent that month's partition from being created. Move them to another table, then run: select holdfast.maintain_partitions(3)`,
    )
  }
  const monthsAhead = Math.min(...partitions.map(({ monthsAhead }) => monthsAhead))
  const message = `this month's exist, and ${monthsAhead} months ahead`
  return monthsAhead === 0 ? warn('partitions', message, upkeep) : ok('partitions', message)
}

/** Nodes send a heartbeat every second; other nodes declare one dead after four. */
export const aliveWithinMs = 10_000

async function checkNodes(database: Database): Promise<Finding> {
  const nodes = await readNodeShares(database)
  const alive = nodes.filter(({ sinceBeatMs }) => sinceBeatMs <= aliveWithinMs)
  if (alive.length === 0) {
    const last = nodes.at(-1)
    const ago =
      last === undefined ? '' : `; "${last.name}" was last seen ${Math.round(last.sinceBeatMs / 1000)} s ago`
    return warn(
      'nodes',
      `no node is running${ago}: messages are accepted and wait`,
      'Start one with: holdfast serve (or holdfast dev)',
    )
  }
  const names = alive.map(({ name, shards }) => `${name} (${shards} of 256 shards)`)
  const free = 256 - alive.reduce((total, { shards }) => total + shards, 0)
  if (free > 0) {
    return warn(
      'nodes',
      `${names.join(', ')}; ${free} shards are not owned by a live node`,
      'Live nodes take them over within seconds. If this warning persists, check the log of the nodes.',
    )
  }
  return ok('nodes', names.join(', '))
}

const maxCounted = 1000

async function checkQuarantine(database: Database): Promise<Finding> {
  const count = await countQuarantine(database, maxCounted)
  if (count === 0) return ok('quarantine', 'no result is in quarantine')
  const counted = count === maxCounted ? `${maxCounted} or more results` : `${count} results`
  return warn(
    'quarantine',
    `${counted} could not be stored; their deliveries wait`,
    'See the reasons with: holdfast quarantine list',
  )
}

const shownLanes = 5
const shownProblems = 10

const adviceByState: Readonly<Record<TroubledLane['state'], string>> = {
  paused: 'holdfast endpoints resume',
  rejecting: 'holdfast endpoints resume',
  disabled: 'holdfast endpoints enable',
  held: 'holdfast endpoints show',
  open: 'holdfast endpoints show',
}

async function checkLanes(database: Database): Promise<Finding> {
  const lanes = await readTroubledLanes(database)
  const [first] = lanes
  if (first === undefined)
    return ok('endpoints', 'no endpoint is paused, held, disabled or behind an open circuit')
  const listed = lanes.slice(0, shownLanes).map(({ endpoint, state, reason }) => {
    return `${endpoint} is ${state === 'open' ? 'behind an open circuit' : state}${reason === null ? '' : ` (${reason})`}`
  })
  const more = lanes.length > shownLanes ? `, and ${lanes.length - shownLanes} more` : ''
  return warn(
    'endpoints',
    listed.join(', ') + more,
    `For instance: ${adviceByState[first.state]} ${first.endpoint}`,
  )
}

async function checkSources(database: Database): Promise<Finding> {
  const sources = await listSources(database, '', 100)
  if (sources.length === 0) return ok('sources', 'there are none')
  const troubles = sources.flatMap(({ name, state, stateReason, nodes, rejects }) => {
    const isConnected = nodes.some((node) => node.state === 'connected')
    const error = nodes.find((node) => node.error !== null)?.error ?? 'no node consumes it'
    if (state === 'rejecting') return [`${name} was stopped (${stateReason})`]
    if (state === 'active' && !isConnected) return [`${name} is not connected (${error})`]
    return rejects === 0 ? [] : [`${name} has ${rejects} rejected messages`]
  })
  if (troubles.length === 0) return ok('sources', `${sources.length} checked, none needs attention`)
  const more = troubles.length > shownLanes ? `, and ${troubles.length - shownLanes} more` : ''
  return warn(
    'sources',
    troubles.slice(0, shownLanes).join(', ') + more,
    'See: holdfast sources list, holdfast source-rejects list',
  )
}

async function checkBroker(database: Database): Promise<readonly Finding[]> {
  const { isConfigured, nodes, problems, prefix, queueCount } = await readBrokerStatus(database)
  if (problems.length > 0) {
    const findings = problems.map(({ isSevere, message, fix }) =>
      (isSevere ? fail : warn)('broker', message.replace(/\.$/, ''), fix),
    )
    const more = findings.length - shownProblems
    if (more <= 0) return findings
    const rest = warn('broker', `there are ${more} more problems`, 'See all of them: holdfast broker status')
    return [...findings.slice(0, shownProblems), rest]
  }
  if (!isConfigured) return [ok('broker', 'no node uses one')]
  const servers = [...new Set(nodes.flatMap(({ server }) => server ?? []))].join(', ')
  const connected = nodes.length === 1 ? '1 node is' : `${nodes.length} nodes are`
  return [
    ok(
      'broker',
      `${connected} connected to ${servers}; ${queueCount} queues with the prefix "${prefix}" are as declared`,
    ),
  ]
}

/** Checks that need a compatible schema. */
export function schemaChecks(database: Database): readonly Check[] {
  return [
    ['partitions', () => checkPartitions(database)],
    ['nodes', () => checkNodes(database)],
    ['endpoints', () => checkLanes(database)],
    ['quarantine', () => checkQuarantine(database)],
    ['sources', () => checkSources(database)],
    ['broker', () => checkBroker(database)],
  ]
}
