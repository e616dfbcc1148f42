// A seeded run that kills, freezes and cuts off everything that Holdfast stands on, and then checks what it promises.
// npm run torture -- --seed 1 --minutes 2 [--without step-clock,prepared-transactions] [--json]
import { parseArgs } from 'node:util'
import { newEncryptionKey } from '../../src/secrets/keyring.ts'
import { hasOwnBroker } from '../support/amqp/own-broker.ts'
import type { Verdict } from './evidence.ts'
import { report } from './report.ts'
import { switchNames, switchOff, withoutBroker } from './switches.ts'
import { torture } from './torture.ts'

const usage = `Usage: npm run torture -- --seed <whole number> --minutes <number> [--without <name>[,<name>…]] [--json]
What a run can do without: ${switchNames.join(', ')}
`

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    without: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const chaosMs = Number(values.minutes) * 60_000
const wanted = switchOff(values.without.split(',').filter(Boolean))
if (!Number.isInteger(seed) || !(chaosMs > 0) || wanted === null) {
  process.stderr.write(usage)
  process.exit(2)
}

const switches =
  wanted.hasBroker && !hasOwnBroker ? withoutBroker(wanted, 'rabbitmq-server is not installed') : wanted

// The broker has a process group of its own; an exit ends it, a signal alone would not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

// The node processes inherit it.
process.env['HOLDFAST_ENCRYPTION_KEY'] ??= newEncryptionKey()

const startedAtMs = performance.now()
function progress(message: string): void {
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  process.stderr.write(`${seconds.padStart(7)} s  ${message}\n`)
}

const verdicts: Verdict[] = await torture({ seed, chaosMs, switches, progress })
const violated = verdicts.filter(({ violations }) => violations.length > 0)
process.stdout.write(values.json ? `${JSON.stringify({ seed, chaosMs, verdicts })}\n` : report(verdicts))
if (violated.length > 0) {
  const without = values.without === '' ? '' : ` --without ${values.without}`
  process.stderr.write(
    `${violated.length} rows are red. Again: npm run torture -- --seed ${seed} --minutes ${values.minutes}${without}\n`,
  )
  process.exitCode = 1
}
