import { expect, test } from 'vitest'
import { defineJob } from './job.ts'

const module = new URL('./handler.js', import.meta.url)

const refusal = (definition: object) => {
  try {
    defineJob({ name: 'resize', ...definition })
  } catch (error) {
    return (error as Error).message
  }
  return null
}

test('an isolated job names the module of its handler', () => {
  const job = defineJob({ name: 'resize', isolation: 'thread', module })
  expect(job).toMatchObject({
    hasHandler: true,
    isolation: { kind: 'thread', module: module.href, memoryLimitMb: 512 },
  })
  expect(refusal({ isolation: 'process', module: './handler.js', memoryLimitMb: 64 })).toBeNull()
})

test.each([
  [{ isolation: 'thread' }, /module: name the module that exports the handler/],
  [{ isolation: 'thread', module, run: () => {} }, /run: name the module .* a function can't be sent/],
  [{ isolation: 'fiber', module }, /isolation: must be "none", "thread" or "process"/],
  [{ module }, /module: requires isolation/],
  [{ cron: '0 3 * * *' }, /cron: is not a known field: set a schedule .* holdfast\.schedules\.set/],
  [{ schedule: { cron: '0 3 * * *' } }, /schedule: is not a known field: set a schedule/],
  [{ timeout: 5 }, /timeout: is not a known field: did you mean timeoutMs\?/],
  [{ isolation: 'process', module, memoryLimitMb: 1 }, /memoryLimitMb: must be a whole number/],
])('%o is refused with what to do', (definition, message) => {
  expect(refusal(definition)).toMatch(message)
})

test('an isolated job takes no handler afterwards', () => {
  const job = defineJob({ name: 'resize', isolation: 'thread', module })
  expect(() => job.handledBy(() => {})).toThrow(/is isolated: name the module/)
})

test('a handler that is no function is refused', () => {
  const define = defineJob as (definition: object) => unknown
  expect(() => define({ name: 'report', run: 5 })).toThrow('run: must be a function')
  expect(() => define({ name: 'report', runBatch: {} })).toThrow('runBatch: must be a function')
})
