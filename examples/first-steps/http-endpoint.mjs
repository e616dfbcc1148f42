// An HTTP endpoint that is unwell at first: Holdfast tries again until it answers.
//   HOLDFAST_ENCRYPTION_KEY=$(npx holdfast secrets new-key) HOLDFAST_DATABASE_URL=postgres://… node examples/first-steps/http-endpoint.mjs
import { createServer } from 'node:http'
import { Holdfast } from 'holdfast'

// The receiver: it dedupes on `webhook-id`, because a delivery may come twice after a crash.
const seen = new Set()
let requests = 0
let finish
const finished = new Promise((resolve) => (finish = resolve))
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  requests += 1
  if (requests === 1) {
    response.writeHead(503).end('come back later')
    return
  }
  const id = request.headers['webhook-id']
  if (!seen.has(id)) {
    seen.add(id)
    console.log(`received ${body} after a failed attempt`)
  }
  response.writeHead(204).end()
  finish()
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${receiver.address().port}/hooks`

// Private addresses are refused unless allowed, and the receiver above is on this machine.
const holdfast = new Holdfast({
  databaseUrl: process.env.HOLDFAST_DATABASE_URL,
  allowNetworks: ['127.0.0.0/8'],
})
await holdfast.migrate()
const name = `example-http-${process.pid}`
await holdfast.endpoints.create({
  name,
  config: { url },
  retry: { strategy: 'fixed', baseDelayMs: 200, jitter: 'none' },
})
await holdfast.start()

const { id } = await holdfast.send(name, { order: 17 }, { type: 'order.created' })
console.log(`accepted as ${id}`)
await finished

await holdfast.stop()
receiver.close()
receiver.closeAllConnections()
