// Each way of publishing in a transaction that runs here: one order is stored, one is rolled back. node examples/publish/run.mjs
import { setTimeout as wait } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import createKnex from 'knex'
import { Client } from 'pg'
import { startHoldfast } from '../start-holdfast.mjs'
import * as withDrizzle from './drizzle.mjs'
import * as withKnex from './knex.mjs'
import * as withPg from './pg.mjs'

const server = await startHoldfast()
const { Holdfast } = await import('holdfast')
const holdfast = new Holdfast({ databaseUrl: server.databaseUrl })
const client = new Client({ connectionString: server.databaseUrl })
await client.connect()
await client.query('create table orders (id int primary key, total numeric)')
const knex = createKnex({ client: 'pg', connection: server.databaseUrl })

const ways = {
  'pg with the SDK': (order) => withPg.placeOrder(client, holdfast, order),
  'pg with SQL': (order) => withPg.placeOrderInSql(client, order),
  Drizzle: (order) => withDrizzle.placeOrder(drizzle(client), order),
  Knex: (order) => withKnex.placeOrder(knex, order),
}
let id = 0
for (const [name, placeOrder] of Object.entries(ways)) {
  await placeOrder({ id: ++id, total: 99 })
  const problem = await placeOrder({ id: ++id, total: 0 }).catch((error) => error.message)
  console.log(`${name}: order ${id - 1} stored; rolled back: ${problem}`)
}

const events = async () => (await holdfast.events.list({ eventType: 'order.created' })).data
while ((await events()).length < id / 2) await wait(50)
const { rows } = await client.query('select count(*)::int as orders from orders')
console.log(`${rows[0].orders} orders, ${(await events()).length} events`)
console.log('skipped, because they need more than Node.js: prisma.mjs, psycopg.py, psql.sql')

await knex.destroy()
await client.end()
await holdfast.stop()
await server.stop()
