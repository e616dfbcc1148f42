// Jobs: progress, retries, a dead letter and a cron schedule, on a worker in a process of its own: node examples/jobs/run.mjs
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startHoldfast } from '../start-holdfast.mjs'

const server = await startHoldfast()
const { Holdfast } = await import('holdfast')
const { callBank, cleanUp, makeReport } = await import('./jobs.mjs')

const worker = server.spawn(
  'worker',
  '--log-level',
  'warn',
  '--import',
  fileURLToPath(new URL('jobs.mjs', import.meta.url)),
)
const holdfast = new Holdfast({ databaseUrl: server.databaseUrl })

// Progress: the API, the CLI and the dashboard show it while the run executes.
const report = await holdfast.enqueue(makeReport, { month: '2030-01', pages: 5 })
const { file } = await report.result({ timeoutMs: 60_000 })
const { progress, logs } = await holdfast.runs.get(report)
console.log(`report: ${file}, ${progress * 100} % done, ${logs.length} log lines`)

// Retries.
const call = await holdfast.enqueue(callBank, { account: 'NL01' })
const { balance } = await call.result({ timeoutMs: 60_000 })
const { attempts } = await holdfast.runs.get(call)
console.log(`bank: balance ${balance}, after ${attempts.length} attempts`)

// A failure that no retry can help against.
const failure = await holdfast.enqueue(callBank, { account: '' })
const reason = await failure.result({ timeoutMs: 60_000 }).catch((error) => error.code)
const letters = await holdfast.deadLetters.list({ job: 'call-bank' })
console.log(`bank: ${reason}, dead letters: ${letters.data.length} (${letters.data[0].error})`)

// Cron, here with seconds.
await holdfast.schedules.set({ name: 'cleaning', job: cleanUp, payload: {}, cron: '* * * * * *' })
let cleaned = []
while (cleaned.length < 2) {
  await wait(100)
  cleaned = await holdfast.runs.list({ job: 'clean-up', state: 'succeeded' })
}
console.log(`clean-up: ran by cron, every second`)

await holdfast.schedules.delete('cleaning')
await holdfast.stop()
worker.kill('SIGTERM')
await once(worker, 'exit')
await server.stop()
