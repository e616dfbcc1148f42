// One worker as a process of its own, for tests that kill, freeze and cut it off. Run by WorkerProcess, from what was built: it starts in a
// third of the time that the sources take.
import { defineJob, Holdfast, JobWorker } from '../../../dist/index.js'
import { keepLocalSlot } from '../../../dist/jobs/local-workers.js'

const settings = JSON.parse(process.env.HOLDFAST_TEST_WORKER ?? '{}')

function say(signal) {
  process.stdout.write(`${JSON.stringify(signal)}\n`)
}

const log = (level) => (details, message) => say({ event: 'log', level, message, details })
const logger = { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') }

/** Blocks this thread's event loop, as a long computation does. */
function block(ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const waiting = new Map()
const leaked = []

const workOf = (name) =>
  defineJob({
    name,
    queue: name,
    retry: { strategy: 'fixed', baseDelayMs: 50, maxRetries: 5, jitter: 'none' },
    run: async (input, context) => {
      const { n, does, ms = 0 } = input
      say({ event: 'ran', n, attempt: context.attempt, crashes: context.crashes })
      if (does === 'die') process.kill(process.pid, 'SIGKILL')
      if (does === 'exit') process.exit(3)
      if (does === 'leak') for (;;) leaked.push(Array.from({ length: 1000 }, () => Math.random()))
      if (does === 'block') block(ms)
      if (does === 'sleep') await new Promise((resolve) => setTimeout(resolve, ms))
      if (does === 'wait') await new Promise((resolve) => waiting.set(n, resolve))
      say({ event: 'finished', n })
      // The result is not in the journal yet: that comes with the next turn of the loop.
      if (does === 'die-after') process.kill(process.pid, 'SIGKILL')
      return { n }
    },
  })

const work = workOf('work')

/** The same on a queue of its own: in the torture run only workers over the broker handle it. */
const carried = workOf('carried')

/** What schedules fire in the torture run. */
const tick = defineJob({
  name: 'tick',
  queue: 'work',
  run: async (_input, context) => say({ event: 'ticked', run: context.id }),
})

/** Handlers in threads and processes of their own. */
const isolated = ['thread', 'process'].map((isolation) =>
  defineJob({
    name: `isolated-${isolation}`,
    queue: 'work',
    isolation,
    module: new URL('../handlers/isolated.mjs', import.meta.url),
    memoryLimitMb: 64,
    timeoutMs: 5000,
    retry: { maxRetries: 0 },
  }),
)

const atWork = [work, tick, ...isolated]
const {
  databaseUrl,
  amqpUrl,
  amqpPrefix,
  name,
  jobs,
  concurrency = 4,
  journalFolder,
  limits,
  endBlockedAfterMs,
} = settings
const worker = new JobWorker({
  databaseUrl,
  amqpUrl,
  amqpPrefix,
  name,
  jobs: jobs === undefined ? atWork : [...atWork, carried].filter(({ name }) => jobs.includes(name)),
  concurrency,
  journalFolder: journalFolder ?? null,
  ...(limits !== undefined && { limits }),
  ...(endBlockedAfterMs !== undefined && { endBlockedAfterMs }),
  keeper: { sweepMs: 200 },
  logger,
})

let holdfast = null

/** Enqueues a run when the worker sleeps, so that it is handed over; `thenDies`: before its handler can have begun. */
async function enqueue({ input, thenDies }) {
  holdfast ??= new Holdfast({ databaseUrl, maxConnections: 2 })
  await holdfast.enqueueBatch(work, [])
  let slot = keepLocalSlot(databaseUrl, work.name)
  while (slot === null) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    slot = keepLocalSlot(databaseUrl, work.name)
  }
  slot.free()
  await holdfast.enqueue(work, input)
  if (thenDies) process.kill(process.pid, 'SIGKILL')
}

// Whoever started us holds the other end; when it goes, however it goes, so do we. A line is an order: the number of a run that may finish, or what
// to enqueue.
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  for (const line of text.split('\n').filter(Boolean)) {
    if (line.startsWith('{')) void enqueue(JSON.parse(line))
    else waiting.get(Number(line))?.()
  }
})
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'))

async function stop() {
  say({ event: 'stopping' })
  await worker.stop()
  await holdfast?.stop()
  say({ event: 'stopped' })
  process.stdin.destroy()
}
process.once('SIGTERM', () => void stop())

await worker.start()
say({ event: 'started', incarnation: worker.incarnation })
