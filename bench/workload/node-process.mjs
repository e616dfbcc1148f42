// A node and nothing else, for rows that read its memory or CPU time, or kill it. Plain JavaScript: a loader that compiles in the same process would
// be part of the measurement.
import { Holdfast } from '../../dist/index.js'

const [databaseUrl, handlerName] = process.argv.slice(2)
let isFailing = false
let handled = 0

const holdfast = new Holdfast({
  databaseUrl,
  nodeName: `bench-${process.pid}`,
  handlers: {
    [handlerName]: () => {
      if (isFailing) throw new Error('out of order')
      handled += 1
    },
  },
})

process.on('disconnect', () => process.exit(0))
process.on('message', (request) => {
  if (request === 'fail') isFailing = true
  if (request === 'succeed') isFailing = false
  process.send({ handled, memoryBytes: process.memoryUsage.rss() })
})

await holdfast.start()
process.send('started')
