// A platform's tracking log, through Holdfast, into two record stores. One of them is down at first and refuses one statement in a hundred.
// At the end nothing valid is missing.
//   HOLDFAST_ENCRYPTION_KEY=$(npx holdfast secrets new-key) HOLDFAST_DATABASE_URL=postgres://… node examples/learning/run.mjs
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { Holdfast } from 'holdfast'
import { startRecordStore } from './record-store.mjs'

const events = 1000
const isRefused = (statement) => statement.object.id.endsWith('video-refused')

const reliable = await startRecordStore()
const troubled = await startRecordStore({ refuses: isRefused })
troubled.isDown = true

// The log, as the platform writes it: one event a line.
const folder = await mkdtemp(join(tmpdir(), 'holdfast-learning-'))
const log = join(folder, 'tracking.log')
await writeFile(log, Array.from({ length: events }, (_, n) => `${JSON.stringify(logLine(n))}\n`).join(''))

const holdfast = new Holdfast({
  databaseUrl: process.env.HOLDFAST_DATABASE_URL,
  allowNetworks: ['127.0.0.0/8'],
})
await holdfast.migrate()
const transform = {
  type: 'xapi',
  platformUrl: 'https://learn.example',
  actor: { from: 'hash', key: 'keep this one somewhere safe' },
  courses: { from: 'map', map: { 'course-v1:Acme+PY101+2030': 'Python 101' } },
}
const names = []
for (const [word, store] of Object.entries({ reliable, troubled })) {
  const name = `example-${word}-${process.pid}`
  names.push(name)
  await holdfast.endpoints.create({
    name,
    preset: 'record-store',
    config: { url: store.url },
    batch: { maxMessages: 50, maxWaitMs: 100 },
    // A demonstration has less time than a real store.
    retry: { strategy: 'fixed', baseDelayMs: 200, jitter: 'none' },
    circuit: { threshold: 5, cooldownMs: 1000 },
  })
  await holdfast.routes.create({ name, eventType: `learning-${process.pid}.**`, endpoint: name, transform })
}
await holdfast.start()

let batch = []
const publish = async () => {
  await holdfast.publishBatch(batch)
  batch = []
}
for await (const line of createInterface({ input: createReadStream(log) })) {
  const payload = JSON.parse(line)
  batch.push({ type: `learning-${process.pid}.${payload.name}`, payload })
  if (batch.length === 500) await publish()
}
await publish()
console.log(`${events} events published from the log`)

while (reliable.statements.size < events) await wait(50)
console.log(
  `the reliable store has ${reliable.statements.size} statements, the one that is down ${troubled.statements.size}`,
)
troubled.isDown = false
const owed = async () =>
  (await Promise.all(names.map((name) => holdfast.endpoints.health(name)))).reduce(
    (sum, { pending }) => sum + pending,
    0,
  )
while ((await owed()) > 0) await wait(100)

const letters = await holdfast.deadLetters.list({ endpoint: names[1], limit: 100 })
const valid = [...reliable.statements.values()].filter((statement) => !isRefused(statement))
const missing = valid.filter(({ id }) => !troubled.statements.has(id))
console.log(`back again, it has ${troubled.statements.size} statements and refused ${letters.data.length}`)
console.log(`valid statements that are missing: ${missing.length}`)

await holdfast.stop()
await reliable.close()
await troubled.close()
await rm(folder, { recursive: true })
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
