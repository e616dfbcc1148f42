// The process of one sample, so that every contender has a fresh heap and a cold JIT, and nothing is left over from another.
import { rows } from '../rows/all.ts'
import { Unavailable } from './row.ts'
import type { SampleReply, SampleRequest } from './take-sample.ts'

process.once('message', (request: SampleRequest) => {
  void reply(request)
})

async function reply(request: SampleRequest): Promise<void> {
  const answered = await answer(request)
  process.send?.(answered, () => process.exit(0))
}

async function answer({ row: name, context }: SampleRequest): Promise<SampleReply> {
  const row = rows.find((row) => row.name === name)
  try {
    if (row === undefined) throw new Error(`There is no row "${name}".`)
    return { kind: 'sample', sample: await row.measure(context) }
  } catch (error) {
    if (error instanceof Unavailable) return { kind: 'unavailable', reason: error.message }
    return { kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
