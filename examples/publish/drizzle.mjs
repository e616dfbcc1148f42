// An event in a Drizzle transaction. Drizzle is no dependency of Holdfast: `db` is your application's database and `sql` comes from
// `drizzle-orm`. Our test hands in stand-ins that send what Drizzle sends: the text with $1, $2, … and the values apart.

export async function placeOrder(db, sql, order) {
  await db.transaction(async (transaction) => {
    await transaction.execute(sql`insert into orders (id, total) values (${order.id}, ${order.total})`)
    const options = JSON.stringify({ orderingKey: `order-${order.id}` })
    await transaction.execute(
      sql`select holdfast.publish(${'order.created'}, ${JSON.stringify(order)}::jsonb, ${options}::jsonb)`,
    )
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
  })
}
