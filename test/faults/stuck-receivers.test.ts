import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'
import { drip } from '../support/receivers/behaviours.ts'
import { HttpReceiver } from '../support/receivers/http-receiver.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

/** Milliseconds from publishing to arrival, sorted, of messages sent one after the other. */
async function latencies(endpoint: string, count: number): Promise<number[]> {
  const measured: number[] = []
  for (let n = 0; n < count; n++) {
    const startedAtMs = performance.now()
    const ids = await stage.publish(endpoint, 1)
    await stage.receiver.whenAccepted(ids, 20_000)
    measured.push(performance.now() - startedAtMs)
  }
  return measured.sort((first, second) => first - second)
}

const median = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? 0
const high = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.95)] ?? 0

test('fifty frozen receivers and a dripping one delay no other endpoint', async () => {
  await using dripping = await HttpReceiver.start({ behaviour: drip(50) })
  await stage.endpoint('healthy')
  const frozen = Array.from({ length: 50 }, (_, index) => `frozen-${index}`)
  await stage.startNodes(['a'])
  await latencies('healthy', 10)
  const alone = await latencies('healthy', 100)
  for (const name of frozen) {
    await stage.endpoint(name, {
      // Longer than it takes to publish for all of them on a busy machine: they are stuck at the same time.
      config: { url: stage.receiver.urlOf(name), timeoutMs: 60_000 },
      circuit: { threshold: 1000 },
    })
    stage.receiver.behave(name, () => null)
  }
  await stage.endpoint('dripping', {
    config: { url: dripping.url, timeoutMs: 10_000 },
    circuit: { threshold: 1000 },
  })
  for (const name of [...frozen, 'dripping']) await stage.publish(name, 200)
  await stage.receiver.when(
    () => frozen.every((name) => stage.receiver.outNow(name) >= 4),
    60_000,
    () => 'not every frozen receiver has requests out',
  )
  const beside = await latencies('healthy', 100)
  console.log(
    `latency alone: median ${median(alone).toFixed(1)} ms, p95 ${high(alone).toFixed(1)} ms; ` +
      `beside 51 stuck receivers: median ${median(beside).toFixed(1)} ms, p95 ${high(beside).toFixed(1)} ms`,
  )
  expect(median(beside)).toBeLessThan(Math.max(median(alone) * 5, 50))
  // A stuck receiver's deadline is 10 s or more: anything that waited for one would show.
  expect(high(beside)).toBeLessThan(1000)
})
