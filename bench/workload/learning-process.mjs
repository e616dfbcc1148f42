// One part of a back-fill in its own process, so that its CPU time can be read: the node that delivers, or the record store.
import { createServer } from 'node:http'
import { Holdfast } from '../../dist/index.js'

const [part, databaseUrl, encryptionKey] = process.argv.slice(2)
process.on('disconnect', () => process.exit(0))

if (part === 'node') {
  await new Holdfast({ databaseUrl, encryptionKey, allowNetworks: ['127.0.0.0/8'] }).start()
  process.on('message', () => process.send({ cpuMs: cpuMs() }))
  process.send({ port: 0 })
} else {
  const stored = new Set()
  // Accepts a batch completely or not at all, and remembers its statements; it doesn't validate them, because that would measure the store.
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const given = JSON.parse(Buffer.concat(chunks).toString())
      const isKnown = given.some(({ id }) => stored.has(id))
      if (!isKnown) for (const { id } of given) stored.add(id)
      response.writeHead(isKnown ? 409 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isKnown ? [] : given.map(({ id }) => id)))
    })
  })
  process.on('message', () => process.send({ stored: stored.size, cpuMs: cpuMs() }))
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
