// An event in a Drizzle transaction. `db` is your application's: drizzle(pool) of drizzle-orm/node-postgres. Runs with drizzle-orm 0.45.
import { sql } from 'drizzle-orm'
import { integer, numeric, pgTable } from 'drizzle-orm/pg-core'

export const orders = pgTable('orders', { id: integer().primaryKey(), total: numeric() })

export async function placeOrder(db, order) {
  await db.transaction(async (transaction) => {
    await transaction.insert(orders).values({ id: order.id, total: String(order.total) })
    const options = JSON.stringify({ orderingKey: `order-${order.id}` })
    await transaction.execute(
      sql`select holdfast.publish(${'order.created'}, ${JSON.stringify(order)}::jsonb, ${options}::jsonb)`,
    )
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
  })
}
