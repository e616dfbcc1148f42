import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import createKnex, { type Knex } from 'knex'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HandlerMessage } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

interface Order {
  readonly id: number
  readonly total: number
}
type PlaceOrder = (...given: unknown[]) => Promise<void>

const folder = new URL('../../../examples/publish/', import.meta.url)
const pathOf = (file: string) => fileURLToPath(new URL(file, folder))
const load = async (file: string) => (await import(new URL(file, folder).href)) as Record<string, PlaceOrder>
const isOnPath = (command: string) => spawnSync(command, ['--version']).status === 0
const hasPython = isOnPath('python3')
const hasPsql = isOnPath('psql')

interface Executed {
  readonly sql: string
  readonly parameters?: readonly unknown[] | Readonly<Record<string, unknown>>
}

/** As psycopg sends it: %s are $1, $2, … in turn; a name is one $n, however often it appears. */
function asPsycopg({ sql, parameters = [] }: Executed): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const numbers = new Map<string, number>()
  const text = sql.replaceAll(/%(?:s|\((\w+)\)s)/g, (_, name?: string) => {
    if (name === undefined) return `$${values.push((parameters as readonly unknown[])[values.length])}`
    const number = numbers.get(name) ?? values.push((parameters as Record<string, unknown>)[name])
    numbers.set(name, number)
    return `$${number}`
  })
  return { text, values }
}

describe('the examples of publishing', () => {
  let rig: Rig
  let node: RunningNode
  let client: PoolClient
  let knex: Knex
  const received: HandlerMessage[] = []

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { beatMs: 100 } })
    await rig.rows('create table orders (id int primary key, total numeric)')
    await functionEndpoint(node.holdfast, (message) => void received.push(message), {
      eventTypes: ['order.*'],
    })
    client = await rig.database.pool.connect()
    knex = createKnex({ client: 'pg', connection: rig.database.url, pool: { min: 0, max: 1 } })
  })
  afterAll(async () => {
    await knex.destroy()
    client.release()
    await rig.stop()
  })
  beforeEach(async () => {
    // What is delivered is settled in one statement with its record: nothing of the last test is under way then.
    await until(
      'the last test to be over',
      async () =>
        Number(await rig.value('select count(*) from holdfast_internal.deliveries where due_at is null')) ===
        0,
    )
    received.length = 0
    await rig.rows(
      'truncate orders, holdfast_internal.messages, holdfast_internal.deliveries, holdfast_internal.attempts',
    )
  })

  const ways: Readonly<Record<string, { isHere: boolean; placeOrder: (order: Order) => Promise<void> }>> = {
    'pg.mjs placeOrder': {
      isHere: true,
      placeOrder: async (order) => (await load('pg.mjs'))['placeOrder']!(client, node.holdfast, order),
    },
    'pg.mjs placeOrderInSql': {
      isHere: true,
      placeOrder: async (order) => (await load('pg.mjs'))['placeOrderInSql']!(client, order),
    },
    'drizzle.mjs with drizzle-orm': {
      isHere: true,
      placeOrder: async (order) => (await load('drizzle.mjs'))['placeOrder']!(drizzle(client), order),
    },
    'knex.mjs with knex': {
      isHere: true,
      placeOrder: async (order) => (await load('knex.mjs'))['placeOrder']!(knex, order),
    },
    'prisma.mjs with a stand-in for the generated client': {
      isHere: true,
      placeOrder: async (order) => {
        const send = (texts: TemplateStringsArray, ...values: unknown[]) =>
          client.query({ text: texts.reduce((before, after, index) => `${before}$${index}${after}`), values })
        const transaction = { $executeRaw: send, $queryRaw: send }
        const $transaction = async (work: (given: typeof transaction) => Promise<void>) => {
          await client.query('begin')
          try {
            await work(transaction)
            await client.query('commit')
          } catch (error) {
            await client.query('rollback')
            throw error
          }
        }
        await (await load('prisma.mjs'))['placeOrder']!({ $transaction }, order)
      },
    },
    'psycopg.py under python3, with a stand-in for the connection': {
      isHere: hasPython,
      placeOrder: async (order) => {
        const standIn = fileURLToPath(new URL('psycopg-stand-in.py', import.meta.url))
        const python = spawnSync('python3', [standIn, pathOf('psycopg.py'), JSON.stringify(order)])
        const executed = python.stdout
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Executed)
        expect(executed).toHaveLength(4)
        for (const statement of executed) await client.query(asPsycopg(statement))
        if (python.status !== 0) throw new Error(python.stderr.toString())
      },
    },
    'psql.sql with psql': {
      isHere: hasPsql,
      placeOrder: async (order) => {
        // The file as it stands; what rolls back differs from it in its last line only.
        const text = readFileSync(pathOf('psql.sql'), 'utf8')
        const input = order.total > 0 ? text : text.replace('\ncommit;', '\nrollback;')
        const psql = spawnSync(
          'psql',
          ['--no-psqlrc', '-v', 'ON_ERROR_STOP=1', '-f', '-', rig.database.url],
          {
            input,
          },
        )
        if (psql.status !== 0) throw new Error(psql.stderr.toString())
        if (order.total <= 0) throw new Error('worth nothing')
      },
    },
  }
  const entries = Object.entries(ways)

  it('are all here', () => {
    const ways = readdirSync(folder).filter((name) => name !== 'README.md' && name !== 'run.mjs')
    expect(new Set(ways)).toEqual(new Set(entries.map(([name]) => name.split(' ')[0])))
  })

  for (const [name, { isHere, placeOrder }] of entries) {
    it.skipIf(!isHere)(`${name}: the order is stored, and its event delivered`, async () => {
      await placeOrder({ id: 17, total: 99 })
      expect(await rig.rows('select id, total::int from orders')).toEqual([{ id: 17, total: 99 }])
      const message = await until('the event', () => received.find(({ type }) => type === 'order.created'))
      expect(message?.payload).toEqual({ id: 17, total: 99 })
      expect(
        await rig.rows(`select type, body from holdfast_internal.messages where type = 'order.created'`),
      ).toEqual([{ type: 'order.created', body: { id: 17, total: 99 } }])
    })

    it.skipIf(!isHere)(`${name}: a rolled-back transaction leaves no trace`, async () => {
      await expect(placeOrder({ id: 18, total: 0 })).rejects.toThrow('worth nothing')
      expect(await rig.rows('select id from orders')).toEqual([])
      expect(await rig.count('messages')).toBe(0)
      expect(await rig.count('deliveries')).toBe(0)
      expect(await rig.count('attempts')).toBe(0)
      // Nothing was left open either: what comes next is delivered, and is the first to be.
      await node.holdfast.publish('order.next', 1)
      await until('the next one', () => received.length > 0)
      expect(received.map(({ type }) => type)).toEqual(['order.next'])
    })
  }

  it.skipIf(!hasPsql)('psql.sql: all three events are in one transaction', async () => {
    await ways['psql.sql with psql']!.placeOrder({ id: 17, total: 99 })
    const rows = await rig.rows<{ type: string; writer: string }>(
      'select type, xmin::text as writer from holdfast_internal.messages order by id',
    )
    expect(rows.map(({ type }) => type)).toEqual(['order.created', 'order.paid', 'order.packed'])
    expect(new Set(rows.map(({ writer }) => writer)).size).toBe(1)
    await until('those that are due', () => received.length === 2)
    // The third waits for 2030.
    await until('those two to be settled', async () => (await rig.count('deliveries')) === 1)
  })
})
