// A node in broker mode and nothing else. Plain JavaScript, without the loader that compiles the benchmark.
import { Holdfast } from '../../dist/index.js'

const [databaseUrl, url, prefix] = process.argv.slice(2)
process.on('disconnect', () => process.exit(0))

await new Holdfast({ databaseUrl, broker: { url, topology: { prefix } } }).start()
process.send('started')
