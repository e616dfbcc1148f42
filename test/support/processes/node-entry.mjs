// One Holdfast node as a process of its own, for tests that kill, freeze and restart it. Run by NodeProcess, from what was built: it starts in
// a third of the time that the sources take. Its settings and signals are described in node-settings.ts.
import { Holdfast } from '../../../dist/index.js'

const settings = JSON.parse(process.env.HOLDFAST_TEST_NODE ?? '{}')

function say(signal) {
  process.stdout.write(`${JSON.stringify(signal)}\n`)
}

const log = (level) => (details, message) => say({ event: 'log', level, message, details })
const logger = { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') }

const incarnation = () => holdfast.node?.incarnation ?? 0
const observer = {
  attempted() {},
  settled() {},
  shardsTaken: (shards, from) => say({ event: 'shards-taken', incarnation: incarnation(), from, shards }),
  shardsReleased: (shards) => say({ event: 'shards-released', incarnation: incarnation(), shards }),
  fenced: () => say({ event: 'fenced', incarnation: incarnation() }),
  resumed: () => say({ event: 'resumed', incarnation: incarnation() }),
}

function handlerFor(endpoint, name) {
  return (message) => {
    if (name === 'die-if-told' && message.payload?.isDeadly === true) process.kill(process.pid, 'SIGKILL')
    if (name !== 'accept') say({ event: 'handled', endpoint, messageId: message.id })
  }
}

/** Says when this process didn't get its turn: what it had begun then was done late. */
const lookMs = 50
const saidFromMs = 50
let dueAtMs = performance.now() + lookMs
setInterval(() => {
  const forMs = performance.now() - dueAtMs
  if (forMs > saidFromMs) say({ event: 'stalled', forMs: Math.round(forMs) })
  dueAtMs = performance.now() + lookMs
}, lookMs).unref()

/** It sends nothing of its own any more. */
const quiet = new AbortController()
const { databaseUrl, name, handlers = {}, isNameExclusive, maxConnections, limits, broker } = settings
const holdfast = new Holdfast({
  databaseUrl,
  nodeName: name,
  allowNetworks: ['127.0.0.0/8'],
  handlers: Object.fromEntries(
    Object.entries(handlers).map(([endpoint, handler]) => [endpoint, handlerFor(endpoint, handler)]),
  ),
  ...(isNameExclusive !== undefined && { isNameExclusive }),
  ...(maxConnections !== undefined && { maxConnections }),
  ...(limits !== undefined && { limits }),
  ...(broker !== undefined && { broker: { url: broker.url, topology: { prefix: broker.prefix } } }),
  logger,
  observer,
})

// Whoever started us holds the other end; when it goes, however it goes, so do we.
process.stdin.resume()
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'))
// The one thing that it says to us.
process.stdin.on('data', () => quiet.abort())

/** Whoever isn't told that a message was accepted can't say so: it may exist or not. */
async function sendOwn(endpoints, everyMs) {
  for (let number = 0; !quiet.signal.aborted; number++) {
    const endpoint = endpoints[number % endpoints.length] ?? ''
    const payload = { n: number, endpoint, by: `${name} ${process.pid}` }
    await holdfast.send(endpoint, payload).then(
      ({ id }) => say({ event: 'sent', id, endpoint, payload }),
      () => {},
    )
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

async function stop() {
  quiet.abort()
  say({ event: 'stopping' })
  await holdfast.stop()
  say({ event: 'stopped' })
  // No process.exit: a stop that leaves a timer or a socket behind shows as a process that doesn't end.
  process.stdin.destroy()
}
process.once('SIGTERM', () => void stop())

await holdfast.start()
say({ event: 'started', incarnation: incarnation() })
if (settings.sends !== undefined) await sendOwn(settings.sends.endpoints, settings.sends.everyMs)
