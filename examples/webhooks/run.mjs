// Webhooks to receivers in several languages, each of which verifies the signature with its own secret: node examples/webhooks/run.mjs
import { setTimeout as wait } from 'node:timers/promises'
import { startHoldfast } from '../start-holdfast.mjs'
import { isInstalled, languages } from './languages.mjs'
import { freePort, startReceiver } from './start-receiver.mjs'

const events = 3
const holdfast = await startHoldfast()
const { HoldfastClient } = await import('holdfast/client')
const client = new HoldfastClient({ url: holdfast.url, apiKey: holdfast.apiKey })

const receivers = []
for (const language of languages.filter(isInstalled)) {
  const port = await freePort()
  const name = language.tool
  const url = `http://127.0.0.1:${port}/hooks`
  // The secret is generated, and shown only now: hand it to the receiver.
  const { signingSecret } = await client.endpoints.create({
    body: { name, eventTypes: ['order.*'], config: { url } },
  })
  const receiver = await startReceiver(language, { secret: signingSecret, port, folder: holdfast.folder })
  receivers.push({ ...language, url, receiver })
}

for (let id = 1; id <= events; id += 1) await client.publish('order.created', { id, customer: 'Ægir' })
while (receivers.some(({ receiver }) => receiver.accepted.size < events)) await wait(50)

/** What somebody sends who knows the address, but not the secret. */
async function forge(url) {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = `v1,${Buffer.alloc(32).toString('base64')}`
  const headers = {
    'webhook-id': 'msg_forged',
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  }
  return (await fetch(url, { method: 'POST', headers, body: '{"id":4}' })).status
}

for (const { language, tool } of languages) {
  const started = receivers.find((receiver) => receiver.tool === tool)
  if (started === undefined) {
    console.log(`${language}: skipped, because ${tool} isn't installed`)
    continue
  }
  const status = await forge(started.url)
  console.log(
    `${language}: verified ${started.receiver.accepted.size} events, answered a forged one with ${status}`,
  )
}

for (const { receiver } of receivers) await receiver.stop()
await holdfast.stop()
