// A worker that connects only to the broker. Plain JavaScript, without the loader that compiles the benchmark.
import { createWorker, defineJob } from '../../dist/index.js'

const [amqpUrl, amqpPrefix, journalFolder, concurrency] = process.argv.slice(2)
let handled = 0

process.on('disconnect', () => process.exit(0))
process.on('message', () => process.send({ handled, memoryBytes: process.memoryUsage.rss() }))

const run = () => {
  handled += 1
}
await createWorker({
  amqpUrl,
  amqpPrefix,
  journalFolder,
  concurrency: Number(concurrency),
  jobs: [defineJob({ name: 'bench', run })],
})
process.send('started')
