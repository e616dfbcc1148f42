// An event in a Knex transaction. `knex` is your application's: knex({ client: 'pg', connection }). Runs with Knex 3.

export async function placeOrder(knex, order) {
  await knex.transaction(async (transaction) => {
    await transaction('orders').insert({ id: order.id, total: order.total })
    await transaction.raw('select holdfast.publish(?, ?::jsonb, ?::jsonb)', [
      'order.created',
      JSON.stringify(order),
      JSON.stringify({ orderingKey: `order-${order.id}` }),
    ])
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
  })
}
