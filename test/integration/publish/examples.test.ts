import { readdirSync, readFileSync } from 'node:fs'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../src/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'

interface Order {
  readonly id: number
  readonly total: number
}
type PlaceOrder = (...given: unknown[]) => Promise<void>

const folder = new URL('../../../examples/publish/', import.meta.url)
const text = (file: string) => readFileSync(new URL(file, folder), 'utf8')
const load = async (file: string) => (await import(new URL(file, folder).href)) as Record<string, PlaceOrder>

/** A statement as a tagged template makes it: the text with $1, $2, … and the values apart. */
function tagged(texts: TemplateStringsArray, ...values: unknown[]) {
  return { text: texts.reduce((before, after, index) => `${before}$${index}${after}`), values }
}

/** Any library's way of writing placeholders, as PostgreSQL's. */
function numbered(statement: string, placeholder: RegExp): string {
  let last = 0
  return statement.replaceAll(placeholder, () => `$${++last}`)
}

async function inTransaction(client: PoolClient, work: () => Promise<void>): Promise<void> {
  await client.query('begin')
  try {
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

describe('the examples of publishing', () => {
  let rig: Rig
  let holdfast: Holdfast
  let client: PoolClient

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
    await rig.rows('create table orders (id int primary key, total numeric)')
    await holdfast.endpoints.create({ name: 'crm', transport: 'function', eventTypes: ['order.*'] })
    client = await rig.database.pool.connect()
  })
  afterAll(async () => {
    client.release()
    await rig.stop()
  })
  beforeEach(async () => {
    await rig.rows('truncate orders, holdfast.messages, holdfast.deliveries')
  })

  /** How each example's libraries talk to PostgreSQL. */
  const ways: Readonly<Record<string, (order: Order) => Promise<void>>> = {
    'pg.mjs placeOrder': async (order) => (await load('pg.mjs'))['placeOrder']!(client, holdfast, order),
    'pg.mjs placeOrderInSql': async (order) => (await load('pg.mjs'))['placeOrderInSql']!(client, order),
    'prisma.mjs': async (order) => {
      const send = (texts: TemplateStringsArray, ...values: unknown[]) =>
        client.query(tagged(texts, ...values))
      const transaction = { $executeRaw: send, $queryRaw: send }
      const prisma = {
        $transaction: (work: (given: typeof transaction) => Promise<void>) =>
          inTransaction(client, () => work(transaction)),
      }
      await (await load('prisma.mjs'))['placeOrder']!(prisma, order)
    },
    'drizzle.mjs': async (order) => {
      const transaction = { execute: (statement: ReturnType<typeof tagged>) => client.query(statement) }
      const db = {
        transaction: (work: (given: typeof transaction) => Promise<void>) =>
          inTransaction(client, () => work(transaction)),
      }
      await (await load('drizzle.mjs'))['placeOrder']!(db, tagged, order)
    },
    'knex.mjs': async (order) => {
      const transaction = {
        raw: (statement: string, values: unknown[]) => client.query(numbered(statement, /\?/g), values),
      }
      const knex = {
        transaction: (work: (given: typeof transaction) => Promise<void>) =>
          inTransaction(client, () => work(transaction)),
      }
      await (await load('knex.mjs'))['placeOrder']!(knex, order)
    },
    'psycopg.py': async (order) => {
      const statements = [...text('psycopg.py').matchAll(/^[A-Z_]+ = """(.*)"""$/gm)].map(([, statement]) =>
        numbered(statement!, /%s/g),
      )
      expect(statements).toHaveLength(2)
      await inTransaction(client, async () => {
        await client.query(statements[0]!, [order.id, order.total])
        await client.query(statements[1]!, [
          'order.created',
          JSON.stringify(order),
          JSON.stringify({ orderingKey: `order-${order.id}` }),
        ])
        if (order.total <= 0) throw new Error('worth nothing')
      })
    },
  }

  it('are all here', () => {
    const shown = new Set([...Object.keys(ways).map((name) => name.split(' ')[0]), 'psql.sql'])
    expect(new Set(readdirSync(folder))).toEqual(shown)
  })

  it.each(Object.entries(ways))('%s: the order and its event are stored together', async (_, placeOrder) => {
    await placeOrder({ id: 17, total: 99 })
    expect(await rig.rows('select id, total::int from orders')).toEqual([{ id: 17, total: 99 }])
    expect(await rig.rows('select type, body from holdfast.messages')).toEqual([
      { type: 'order.created', body: { id: 17, total: 99 } },
    ])
    expect(await rig.rows('select ordering_key from holdfast.deliveries')).toEqual([
      { ordering_key: 'order-17' },
    ])
  })

  it.each(Object.entries(ways))('%s: a rolled-back transaction leaves no trace', async (_, placeOrder) => {
    await expect(placeOrder({ id: 18, total: 0 })).rejects.toThrow('worth nothing')
    expect(await rig.rows('select id from orders')).toEqual([])
    expect(await rig.count('messages')).toBe(0)
    expect(await rig.count('deliveries')).toBe(0)
  })

  it('psql.sql: commits all three events, or none', async () => {
    await client.query(text('psql.sql').replace('\ncommit;', '\nrollback;'))
    expect(await rig.count('messages')).toBe(0)
    expect(await rig.rows('select id from orders')).toEqual([])
    await client.query(text('psql.sql'))
    expect(await rig.rows('select type from holdfast.messages order by id')).toEqual([
      { type: 'order.created' },
      { type: 'order.paid' },
      { type: 'order.packed' },
    ])
    expect(await rig.rows('select id from orders')).toEqual([{ id: 17 }])
  })
})
