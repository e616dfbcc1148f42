// An event in a Prisma transaction. `prisma` is your application's client, which Prisma generates from your schema. Our test has none: it
// hands in a stand-in that sends what Prisma sends for a tagged template, the text with $1, $2, … and the values apart.

export async function placeOrder(prisma, order) {
  await prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`insert into orders (id, total) values (${order.id}, ${order.total})`
    const options = JSON.stringify({ orderingKey: `order-${order.id}` })
    await transaction.$queryRaw`
      select holdfast.publish(${'order.created'}, ${JSON.stringify(order)}::jsonb, ${options}::jsonb) as id`
    if (order.total <= 0) throw new Error(`order ${order.id} is worth nothing`)
  })
}
