import { setTimeout as sleep } from 'node:timers/promises'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { drain } from './drain.ts'
import { createEndpoints, endpointNames, HANDLER, MAX_PENDING } from './endpoints.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'
import { watchSettling } from './watch-settling.ts'

const BROKEN = 'broken'
const HEALTHY_ENDPOINTS = 10
const POLL_MS = 20
/** Three seconds instead of one: the arms differ by less than the noise of one second. */
const LENGTH = 3

/** The rate of healthy endpoints: for the subject beside a backlog behind an open circuit, for the other arm without one. */
export async function measureIsolation(context: SampleContext): Promise<Sample> {
  const { databaseUrl, backlogMessages } = context
  const messages = context.messages * LENGTH
  const hasBacklog = context.arm === SUBJECT
  await prepareBrokenEndpoint(databaseUrl)
  const watch = watchSettling()
  const holdfast = new Holdfast({
    databaseUrl,
    observer: watch.observer,
    handlers: { [HANDLER]: () => {}, [BROKEN]: fail },
  })
  try {
    const names = endpointNames(HEALTHY_ENDPOINTS)
    await createEndpoints(holdfast, names)
    if (hasBacklog) await sendPayloads(holdfast, BROKEN, backlogMessages)
    for (const name of names) await sendPayloads(holdfast, name, messages / HEALTHY_ENDPOINTS)
    await refreshStatistics(databaseUrl)
    await checkpoint(databaseUrl)
    const { perSecond, elapsedMs } = await drain(holdfast, watch, messages)
    const health = await holdfast.endpoints.health(BROKEN)
    if (health.circuit.state !== 'open') throw new Error(`the circuit is ${health.circuit.state}`)
    return {
      value: perSecond,
      details: { messages, elapsedMs, waiting: hasBacklog ? backlogMessages : 0 },
      settings: { healthyEndpoints: HEALTHY_ENDPOINTS },
    }
  } finally {
    await holdfast.stop()
  }
}

/** Another node opens the circuit, for an hour: the measured node finds it open. */
async function prepareBrokenEndpoint(databaseUrl: string): Promise<void> {
  const holdfast = new Holdfast({ databaseUrl, handlers: { [BROKEN]: fail } })
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, MAX_PENDING)
    await holdfast.endpoints.create({
      name: BROKEN,
      transport: 'function',
      circuit: { threshold: 1, cooldownMs: 3_600_000 },
      limits: { maxPending: MAX_PENDING },
    })
    await holdfast.start()
    await holdfast.send(BROKEN, {})
    while ((await holdfast.endpoints.health(BROKEN)).circuit.state !== 'open') await sleep(POLL_MS)
  } finally {
    await holdfast.stop()
  }
}

function fail(): never {
  throw new Error('out of order')
}
