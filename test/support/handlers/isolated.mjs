// A handler that is executed in a thread or process of its own, and does what its input says.
import { parentPort, threadId } from 'node:worker_threads'

const kept = []

export async function run(input, context) {
  const { does, ms = 0 } = input
  if (does === 'block' || does === 'block-on') while (true);
  // In large pieces: small ones take seconds of garbage collection on a busy machine, and the time-out comes first.
  if (does === 'leak') for (;;) kept.push(Array.from({ length: 250_000 }, () => 0.5))
  if (does === 'exit') process.exit(3)
  if (does === 'tell-and-exit' || does === 'tell-and-block') {
    for (let step = 1; step <= 5; step++) {
      context.logger.info(`step ${step}`)
      context.progress(step / 10)
    }
    if (does === 'tell-and-exit') process.exit(3)
    while (true);
  }
  if (does === 'throw') throw Object.assign(new Error('no such order'), { code: 'E_ORDER', name: input.name })
  if (does === 'throw-nothing') throw Object.create(null)
  if (does === 'crash') {
    setImmediate(() => {
      throw new Error('outside of the handler')
    })
    await new Promise(() => {})
  }
  if (does === 'crash-with-null') {
    setImmediate(() => {
      throw null
    })
    await new Promise(() => {})
  }
  if (does === 'send') {
    if (parentPort === null) await new Promise((resolve) => process.send(input.message, resolve))
    else parentPort.postMessage(input.message, [])
    return 'sent'
  }
  if (does === 'sleep') await new Promise((resolve) => setTimeout(resolve, ms))
  if (does === 'until-told') {
    context.progress('waits')
    await new Promise((_, reject) => {
      const keep = setInterval(() => {}, 1000)
      context.signal.addEventListener('abort', () => {
        clearInterval(keep)
        reject(context.signal.reason)
      })
    })
  }
  if (does === 'deaf') {
    context.progress('waits')
    await new Promise(() => setInterval(() => {}, 1000))
  }
  if (does === 'tell') {
    context.logger.info('began')
    context.logger.warn({ n: 1 }, 'half way')
    for (let step = 1; step <= 1000; step++) context.progress(step / 1000)
  }
  if (does === 'return') return { value: 1n }
  return {
    pid: process.pid,
    threadId,
    at: input.at instanceof Date ? 'date' : typeof input.at,
    id: context.id,
    attempt: context.attempt,
    crashes: context.crashes,
    correlationId: context.correlationId,
    metadata: context.metadata,
    deadline: context.deadline.getTime() > Date.now(),
  }
}
