// The shop: Express for HTTP, Drizzle for the database. The event is published in the transaction that stores the order.
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import express from 'express'
import { Holdfast } from 'holdfast'

export const orders = pgTable('orders', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  customer: text().notNull(),
  cents: integer().notNull(),
})

export function createShop({ databaseUrl }) {
  const holdfast = new Holdfast({ databaseUrl })
  const db = drizzle(databaseUrl)
  const app = express()
  app.use(express.json())

  app.post('/orders', async (request, response) => {
    const { customer, cents } = request.body
    const order = await db.transaction(async (tx) => {
      const [stored] = await tx.insert(orders).values({ customer, cents }).returning()
      // Part of this transaction: it commits with the order, or not at all.
      await holdfast.publish('order.created', stored, { client: tx, orderingKey: customer })
      await charge(stored)
      return stored
    })
    response.status(201).json(order)
  })

  app.get('/orders', async (_, response) => {
    response.json(await db.select().from(orders))
  })

  app.use((error, _request, response, _next) => {
    response.status(422).json({ error: error.message })
  })

  const close = async () => {
    await holdfast.stop()
    await db.$client.end()
  }
  return { app, close }
}

/** A step that can fail after the event was published. */
async function charge({ cents }) {
  if (cents <= 0) throw new Error('nothing to pay')
}
