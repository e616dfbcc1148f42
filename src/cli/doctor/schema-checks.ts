import { HoldfastError } from '../../core/errors.ts'
import { assertSchema, readSchemaNumber } from '../../postgres/schema.ts'
import type { Database } from '../../storage/database.ts'
import { countQuarantine } from '../../storage/quarantine.ts'
import { readNodes } from '../queries/read-nodes.ts'
import { readPartitions } from '../queries/read-partitions.ts'
import { readTroubledLanes, type TroubledLane } from '../queries/read-troubled-lanes.ts'
import { type Finding, fail, ok, warn } from './check.ts'

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

export async function checkPartitions(database: Database): Promise<Finding> {
  const partitions = await readPartitions(database)
  const missing = partitions.filter(({ hasThisMonth }) => !hasThisMonth).map(({ parent }) => parent)
  if (missing.length > 0)
    return fail('partitions', `${missing.join(' and ')} lack this month's partition`, upkeep)
  const strays = partitions.filter(({ strayRows }) => strayRows > 0)
  if (strays.length > 0) {
    const counted = strays.map(
      ({ parent, strayRows }) => `${strayRows >= 1000 ? 'over ' : ''}${strayRows} in ${parent}_default`,
    )
    return warn(
      'partitions',
      `rows without a partition: ${counted.join(', ')}. They are delivered all the same`,
      `They block that month's partition. Move them aside, then: select holdfast.maintain_partitions(3)`,
    )
  }
  const monthsAhead = Math.min(...partitions.map(({ monthsAhead }) => monthsAhead))
  const message = `this month's are there, and ${monthsAhead} ahead`
  return monthsAhead === 0 ? warn('partitions', message, upkeep) : ok('partitions', message)
}

/** Nodes beat every second; peers bury one after four. */
const aliveWithinMs = 10_000

export async function checkNodes(database: Database): Promise<Finding> {
  const nodes = await readNodes(database)
  const alive = nodes.filter(({ sinceBeatMs }) => sinceBeatMs <= aliveWithinMs)
  if (alive.length === 0) {
    const last = nodes.at(-1)
    const ago =
      last === undefined ? '' : `; "${last.name}" was last seen ${Math.round(last.sinceBeatMs / 1000)} s ago`
    return warn(
      'nodes',
      `none is running${ago}: messages are accepted and wait`,
      'Start one with: holdfast serve (or holdfast dev)',
    )
  }
  const names = alive.map(({ name, shards }) => `${name} (${shards} of 256 shards)`)
  const free = 256 - alive.reduce((total, { shards }) => total + shards, 0)
  if (free > 0) {
    return warn(
      'nodes',
      `${names.join(', ')}; ${free} shards belong to nobody alive`,
      'They are taken over within seconds. If this line stays, look at the log of the nodes.',
    )
  }
  return ok('nodes', names.join(', '))
}

const maxCounted = 1000

export async function checkQuarantine(database: Database): Promise<Finding> {
  const count = await countQuarantine(database, maxCounted)
  if (count === 0) return ok('quarantine', 'no result is in quarantine')
  const counted = count === maxCounted ? `${maxCounted} or more results` : `${count} results`
  return warn(
    'quarantine',
    `${counted} could not be stored; their deliveries wait`,
    'Look at the reasons with: holdfast quarantine list',
  )
}

const shownLanes = 5

const adviceByState: Readonly<Record<TroubledLane['state'], string>> = {
  paused: 'holdfast endpoints resume',
  rejecting: 'holdfast endpoints resume',
  disabled: 'holdfast endpoints enable',
  held: 'holdfast endpoints show',
  open: 'holdfast endpoints show',
}

export async function checkLanes(database: Database): Promise<Finding> {
  const lanes = await readTroubledLanes(database)
  const [first] = lanes
  if (first === undefined) return ok('endpoints', 'none is paused, held, disabled or behind an open circuit')
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
