// A platform's tracking log, through Holdfast, into two record stores. One of them is down at first and refuses one statement in a hundred.
// At the end nothing valid is missing. It starts what it needs, PostgreSQL included, and leaves nothing behind:
//   node examples/learning/run.mjs
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startHoldfast } from '../start-holdfast.mjs'
import { startRecordStore } from './record-store.mjs'

const events = 1000
const isRefused = (statement) => statement.object.id.endsWith('video-refused')

const reliable = await startRecordStore()
const troubled = await startRecordStore({ refuses: isRefused })
troubled.isDown = true

const holdfast = await startHoldfast()
const { HoldfastClient } = await import('holdfast/client')
const client = new HoldfastClient({ url: holdfast.url, apiKey: holdfast.apiKey })

const transform = {
  type: 'xapi',
  platformUrl: 'https://learn.example',
  actor: { from: 'hash', key: 'keep this one somewhere safe' },
  courses: { from: 'map', map: { 'course-v1:Acme+PY101+2030': 'Python 101' } },
}
for (const [name, store] of Object.entries({ reliable, troubled })) {
  await client.endpoints.create({
    body: {
      name,
      preset: 'record-store',
      config: { url: store.url },
      batch: { maxMessages: 50, maxWaitMs: 100 },
      // A demonstration has less time than a real store.
      retry: { strategy: 'fixed', baseDelayMs: 200, jitter: 'none' },
      circuit: { threshold: 5, cooldownMs: 1000 },
    },
  })
  await client.routes.create({ body: { name, eventType: '**', endpoint: name, transform } })
}

// The log, as the platform writes it: one event a line.
const log = join(holdfast.folder, 'tracking.log')
await writeFile(log, Array.from({ length: events }, (_, n) => `${JSON.stringify(logLine(n))}\n`).join(''))
const { published } = JSON.parse(await holdfast.run('learning', 'import', log, '--json'))
console.log(`${published} events published from the log`)

while (reliable.statements.size < events) await wait(50)
console.log(
  `the reliable store has ${reliable.statements.size} statements, the one that is down ${troubled.statements.size}`,
)
troubled.isDown = false
// Every event ends as a statement in the store or as a dead letter.
const deadLetters = async () =>
  (await client.deadLetters.list({ query: { endpoint: 'troubled', limit: 100 } })).data
const giveUpAtMs = Date.now() + 60_000
let letters = []
while (troubled.statements.size + letters.length < events && Date.now() < giveUpAtMs) {
  await wait(100)
  letters = await deadLetters()
}

const valid = [...reliable.statements.values()].filter((statement) => !isRefused(statement))
const missing = valid.filter(({ id }) => !troubled.statements.has(id))
console.log(`back again, it has ${troubled.statements.size} statements and refused ${letters.length}`)
console.log(`valid statements that are missing: ${missing.length}`)

await holdfast.stop()
await reliable.close()
await troubled.close()
if (missing.length > 0) process.exitCode = 1

function logLine(n) {
  const at = new Date(Date.UTC(2030, 0, 31, 9, 0, 0) + n * 250).toISOString()
  return {
    name: 'play_video',
    event_type: 'play_video',
    event_source: 'browser',
    time: at,
    username: `learner-${n % 37}`,
    session: 'f00dfeed',
    context: { course_id: 'course-v1:Acme+PY101+2030', user_id: n % 37 },
    // Browsers send their part as JSON in a text.
    event: JSON.stringify({
      id: n % 100 === 7 ? 'video-refused' : `video-${n % 12}`,
      currentTime: n % 60,
      duration: 60,
    }),
  }
}
