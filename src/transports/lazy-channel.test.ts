import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import { LazyChannel } from './lazy-channel.ts'
import type { Dispatch, TransportChannel } from './transport.ts'

const sent: AttemptOutcome = { class: 'success', isHealthFailure: false, durationMs: 1 }

it('warns of no leak when many deliveries wait for their transport to be loaded', async () => {
  let loaded: (channel: TransportChannel) => void = () => undefined
  const loading = new Promise<TransportChannel>((resolve) => {
    loaded = resolve
  })
  const channel = new LazyChannel({ endpoint: 'crm', transport: 'slow', open: () => loading })
  const { signal } = new AbortController()
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  const sends = Array.from({ length: 20 }, async () => channel.send({} as Dispatch, signal))
  // Warnings come in the order in which they are given: one of ours after those that are looked for.
  const own = once(process, 'warning')
  process.emitWarning('the last one')
  await own
  process.off('warning', onWarning)
  loaded({ send: () => sent, close: async () => undefined })
  expect(await Promise.all(sends)).toEqual(Array.from({ length: 20 }, () => sent))
  expect(warnings.map(({ message }) => message)).toEqual(['the last one'])
})
