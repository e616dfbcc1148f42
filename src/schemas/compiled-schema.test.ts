import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { CheckBudget } from './check-budget.ts'
import { CompiledSchema } from './compiled-schema.ts'
import { prepareSchema } from './prepare-schema.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function prepare(schema: Record<string, unknown>) {
  return prepareSchema(schema, () => true)
}

const wide = (length: number) => ({
  properties: Object.fromEntries(Array.from({ length }, (_, n) => [`p${n}`, { type: 'string' }])),
})

it('releases its memory when nothing uses it any more', async () => {
  const parts = [false, true].map((isDetailed) => {
    const schema = prepare(wide(20))
    new CompiledSchema(schema, { isDetailed }).check({ p1: 1 }, new CheckBudget())
    return new WeakRef(schema.prepared)
  })
  // A WeakRef's target lives at least until the turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(parts.map((part) => part.deref())).toEqual([undefined, undefined])
})

it('says how much memory it takes', () => {
  const [small, large] = [1, 100].map(
    (count) => new CompiledSchema(prepare(wide(count)), { isDetailed: false }),
  )
  expect(small?.sizeBytes).toBeGreaterThan(20_000)
  expect(large?.sizeBytes).toBeGreaterThan(20_000 + 100 * 500)
})
