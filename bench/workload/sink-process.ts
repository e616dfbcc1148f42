// The receiver of HTTP deliveries, in its own process so that it takes no time from the sender's event loop.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let received = 0

const server = createServer((request, response) => {
  request.resume()
  request.once('end', () => {
    received++
    response.writeHead(200, { 'content-length': 0 }).end()
  })
})
server.keepAliveTimeout = 60_000

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.({ port })
})

process.on('message', () => process.send?.({ received }))
process.on('disconnect', () => process.exit(0))
