// A worker and nothing else, for rows that read its memory. Plain JavaScript: a loader that compiles in the same process would be part of the
// measurement.
import { createWorker, defineJob } from '../../dist/index.js'

const [databaseUrl, journalFolder] = process.argv.slice(2)
let handled = 0
let peakBytes = 0

/** Interval of reading the memory: a single claim is shorter than the interval of the parent's requests. */
const SAMPLE_MS = 5

setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}, SAMPLE_MS)
process.on('disconnect', () => process.exit(0))
process.on('message', () => process.send({ handled, memoryBytes: peakBytes }))

await createWorker({
  databaseUrl,
  journalFolder,
  jobs: [
    defineJob({
      name: 'bench',
      run: () => {
        handled += 1
      },
    }),
  ],
})
process.send('started')
