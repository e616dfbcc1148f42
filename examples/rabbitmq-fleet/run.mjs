// Workers that know RabbitMQ only: a node keeps the record in PostgreSQL and dispatches, two workers execute, and one of them is stopped in the middle.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from 'amqplib'
import { startHoldfast } from '../start-holdfast.mjs'
import { removeTopology } from './remove-topology.mjs'

const runs = 60
const broker = {
  HOLDFAST_AMQP_URL: process.env.HOLDFAST_AMQP_URL ?? 'amqp://127.0.0.1:5672',
  // Names of its own on the broker, so that it disturbs nobody.
  HOLDFAST_BROKER_PREFIX: `holdfast-example-${randomBytes(4).toString('hex')}`,
}
const { host } = new URL(broker.HOLDFAST_AMQP_URL)
const connection = await connect(broker.HOLDFAST_AMQP_URL, { timeout: 5000 }).catch((error) => {
  const reason = error.code ?? error.message
  console.log(
    `skipped, because no RabbitMQ answers at ${host} (${reason}). HOLDFAST_AMQP_URL names another one.`,
  )
  process.exit()
})
await connection.close()
const server = await startHoldfast(broker)
// Only now: in a clone, startHoldfast has built it.
const { Holdfast } = await import('holdfast')
const { resize } = await import('./jobs.mjs')
const holdfast = new Holdfast({ databaseUrl: server.databaseUrl })

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const jobs = fileURLToPath(new URL('jobs.mjs', import.meta.url))

/** `holdfast worker` without a database: all that it is told is the broker. */
function startWorker(name) {
  const own = Object.entries(process.env).filter(([variable]) => !variable.startsWith('HOLDFAST_'))
  const env = {
    ...Object.fromEntries(own),
    ...broker,
    HOLDFAST_DATA_DIR: join(server.folder, name),
    HOLDFAST_LOG_LEVEL: 'silent',
  }
  const args = [program, 'worker', '--import', jobs, '--name', name, '--concurrency', '4']
  return spawn(process.execPath, args, { env, cwd: server.folder, stdio: 'ignore' })
}

const [first, second] = ['first', 'second'].map(startWorker)
while ((await holdfast.workers.list()).length < 2) await wait(100)
console.log('two workers have joined over the broker')

await holdfast.enqueueBatch(
  resize,
  Array.from({ length: runs }, (_, image) => ({ input: { image } })),
)
console.log(`${runs} runs are enqueued`)

const count = async (state) => (await holdfast.runs.list({ state, limit: 100 })).length
while ((await count('succeeded')) < runs / 4) await wait(50)
first.kill('SIGTERM')
await once(first, 'exit')
console.log('the first worker was stopped')

while ((await count('succeeded')) < runs) await wait(100)
console.log(`succeeded: ${await count('succeeded')}, failed: ${await count('failed')}`)

second.kill('SIGTERM')
await once(second, 'exit')
await holdfast.stop()
await server.stop()
await removeTopology(broker)
