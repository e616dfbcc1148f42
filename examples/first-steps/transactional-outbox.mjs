// A message that is sent in your own transaction: it goes out if the order is stored, and never if it isn't.
//   HOLDFAST_ENCRYPTION_KEY=$(npx holdfast secrets new-key) HOLDFAST_DATABASE_URL=postgres://… node examples/first-steps/transactional-outbox.mjs
import { createServer } from 'node:http'
import { Holdfast } from 'holdfast'
import { Client } from 'pg'

let finish
const finished = new Promise((resolve) => (finish = resolve))
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  console.log(`received ${body}`)
  response.writeHead(204).end()
  finish()
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${receiver.address().port}/hooks`

const databaseUrl = process.env.HOLDFAST_DATABASE_URL
const holdfast = new Holdfast({ databaseUrl, allowNetworks: ['127.0.0.0/8'] })
await holdfast.migrate()
const name = `example-outbox-${process.pid}`
await holdfast.endpoints.create({ name, config: { url } })
await holdfast.start()

// Your application: its own client, its own table.
const client = new Client({ connectionString: databaseUrl })
await client.connect()
await client.query('create temporary table orders (id int, total numeric)')

async function placeOrder(id, total) {
  await client.query('begin')
  try {
    await client.query('insert into orders values ($1, $2)', [id, total])
    await holdfast.send(name, { order: id, total }, { type: 'order.created', client })
    if (total <= 0) throw new Error(`order ${id} is worth nothing`)
    await client.query('commit')
    console.log(`order ${id} was stored`)
  } catch (error) {
    await client.query('rollback')
    console.log(`order ${id} was rolled back: ${error.message}`)
  }
}

await placeOrder(1, 0)
await placeOrder(2, 99)
await finished

await client.end()
await holdfast.stop()
receiver.close()
receiver.closeAllConnections()
