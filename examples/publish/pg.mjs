// An event in the transaction of plain `pg`: it goes out if the order is stored, and was never there if it isn't.

/** With the SDK: it checks the payload against the schema of its type before anything is stored. */
export async function placeOrder(client, holdfast, order) {
  await client.query('begin')
  try {
    await client.query('insert into orders (id, total) values ($1, $2)', [order.id, order.total])
    await holdfast.publish('order.created', order, { client, orderingKey: `order-${order.id}` })
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** Without the SDK: a statement like any other. */
export async function placeOrderInSql(client, order) {
  await client.query('begin')
  try {
    await client.query('insert into orders (id, total) values ($1, $2)', [order.id, order.total])
    await client.query('select holdfast.publish($1, $2::jsonb, $3::jsonb)', [
      'order.created',
      JSON.stringify(order),
      JSON.stringify({ orderingKey: `order-${order.id}` }),
    ])
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
