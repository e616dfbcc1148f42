// A node in its own process, without the loader that compiles this benchmark. It reports the number of committed results 40 times a second.
import { Authenticator } from '../../dist/api/access/authenticator.js'
import { ApiServer } from '../../dist/api/api-server.js'
import { Holdfast } from '../../dist/index.js'

const REPORT_MS = 25
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const { databaseUrl, handlerName, encryptionKey, apiKey } = JSON.parse(process.argv[2])

let settled = 0
/** Milliseconds from publishing to the handler, of messages that contain their publishing time. */
let latenciesMs = []

const holdfast = new Holdfast({
  databaseUrl,
  nodeName: `growth-${process.pid}`,
  encryptionKey,
  allowNetworks: ['127.0.0.0/8'],
  observer: {
    settled(count) {
      settled += count
    },
  },
  handlers: {
    [handlerName]: ({ payload }) => {
      if (payload.publishedAtMs !== undefined) latenciesMs.push(Date.now() - payload.publishedAtMs)
    },
  },
})

process.on('disconnect', () => process.exit(0))
process.on('message', (request) => {
  if (request === 'latencies') {
    process.send({ latenciesMs })
    latenciesMs = []
  }
  if (request === 'stop') void stop()
})

await holdfast.start()
const server = apiKey === undefined ? null : await serve()
process.send({ url: server?.url ?? null })
setInterval(() => process.send({ settled }), REPORT_MS)

async function serve() {
  const database = () => holdfast.database
  const api = new ApiServer({
    holdfast,
    database,
    authenticator: new Authenticator({ database, adminKey: apiKey }),
    logger: silent,
    host: '127.0.0.1',
    port: 0,
  })
  await api.start()
  return api
}

async function stop() {
  await server?.stop()
  await holdfast.stop()
  process.send({ settled, isStopped: true }, () => process.exit(0))
}
