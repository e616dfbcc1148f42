// An event in a Knex transaction. Knex is no dependency of Holdfast: `knex` is your application's instance. Our test hands in a
// stand-in that sends what Knex sends for a raw statement: each ? as $1, $2, … and the values apart.

export async function placeOrder(knex, order) {
  await knex.transaction(async (transaction) => {
    await transaction.raw('insert into orders (id, total) values (?, ?)', [order.id, order.total])
    await transaction.raw('select holdfast.publish(?, ?::jsonb, ?::jsonb)', [
      'order.created',
      JSON.stringify(order),
      JSON.stringify({ orderingKey: `order-${order.id}` }),
    ])
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
  })
}
