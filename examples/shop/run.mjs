// A shop with an outbox: orders and their events are stored together, and a warehouse that is down at first gets all of them, in order.
//   node examples/shop/run.mjs
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { startHoldfast } from '../start-holdfast.mjs'

const holdfast = await startHoldfast()
const { HoldfastClient } = await import('holdfast/client')
const { createShop } = await import('./shop.mjs')

// The warehouse. It is down at first.
const received = []
let isDown = true
const warehouse = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (!isDown) received.push(JSON.parse(body))
  response.writeHead(isDown ? 503 : 204).end()
})

const client = new HoldfastClient({ url: holdfast.url, apiKey: holdfast.apiKey })
await client.endpoints.create({
  body: {
    name: 'warehouse',
    eventTypes: ['order.*'],
    config: { url: await listen(warehouse) },
    // A demonstration has less time than a real warehouse.
    retry: { strategy: 'fixed', baseDelayMs: 200, jitter: 'none' },
    circuit: { threshold: 3, cooldownMs: 1000 },
  },
})

const owner = new Client({ connectionString: holdfast.databaseUrl })
await owner.connect()
await owner.query(
  'create table orders (id int primary key generated always as identity, customer text not null, cents int not null)',
)
await owner.end()

const shop = createShop({ databaseUrl: holdfast.databaseUrl })
const server = createServer(shop.app)
const shopUrl = await listen(server)

for (const [customer, cents] of [
  ['ada', 1200],
  ['ada', 900],
  ['bob', 0],
  ['bob', 4500],
]) {
  const answer = await fetch(`${shopUrl}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer, cents }),
  })
  const { id, error } = await answer.json()
  console.log(`${customer} orders for ${cents / 100}: ${id === undefined ? error : `order ${id}`}`)
}
const stored = await (await fetch(`${shopUrl}/orders`)).json()
console.log(`the shop has ${stored.length} orders, the warehouse knows ${received.length}`)

const health = () => client.endpoints.health({ params: { name: 'warehouse' } })
while ((await health()).circuit.state !== 'open') await wait(50)
console.log('the warehouse is down: its circuit is open, and the deliveries wait')

isDown = false
while (received.length < stored.length) await wait(50)
const adas = received.filter(({ customer }) => customer === 'ada').map(({ cents }) => cents / 100)
console.log(`the warehouse is back and knows ${received.length}; of ada, in order: ${adas.join(', ')}`)

server.close()
await shop.close()
await holdfast.stop()
warehouse.close()
warehouse.closeAllConnections()

async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${server.address().port}`
}
