import type { TransformInput } from '../../dist/transforms/transform.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { makeTrackingEvent } from './tracking-events.ts'

const settings = {
  platformUrl: 'https://learn.example',
  actor: { from: 'hash', key: 'a key that is long enough' },
  courses: { from: 'map', map: { 'course-v1:Acme+PY101+2030': 'Python 101' } },
}
const options = { readTable: async () => new Map<string, string>(), nowMs: Date.now }

/** CPU time to create the statement of one event: half of the events are about videos, half about problems. */
export async function measureXapi(context: SampleContext): Promise<Sample> {
  const { compileXapi } = await import('../../dist/transforms/xapi/xapi-transform.js')
  return measure(compileXapi(settings, options), context.messages)
}

export async function measureCaliper(context: SampleContext): Promise<Sample> {
  const { compileCaliper } = await import('../../dist/transforms/caliper/caliper-transform.js')
  return measure(compileCaliper(settings, options), context.messages)
}

/** Events a second per core, for the slower of the two formats. */
export async function measureLearning(context: SampleContext): Promise<Sample> {
  const xapi = await measureXapi(context)
  const caliper = await measureCaliper(context)
  return {
    value: 1_000_000 / Math.max(xapi.value, caliper.value),
    details: { xapiMicros: xapi.value, caliperMicros: caliper.value, messages: context.messages },
    settings: {},
  }
}

async function measure(
  transform: { render(input: TransformInput): unknown },
  messages: number,
): Promise<Sample> {
  const inputs = Array.from({ length: messages }, (_, sequence) => makeInput(sequence))
  for (const input of inputs.slice(0, messages / 10)) await transform.render(input)
  const before = process.cpuUsage()
  for (const input of inputs) transform.render(input)
  const { user, system } = process.cpuUsage(before)
  return {
    value: (user + system) / messages,
    details: { messages, cpuMs: (user + system) / 1000 },
    settings: {},
  }
}

function makeInput(sequence: number): TransformInput {
  const event = makeTrackingEvent(sequence) as { name: string }
  const nowMs = 1_900_000_000_000 + sequence * 250
  return {
    messageId: `msg_${sequence}`,
    deliveryId: `dlv_${sequence}`,
    eventType: event.name,
    tenant: null,
    correlationId: null,
    endpoint: 'lrs',
    attempt: 1,
    createdAtMs: nowMs,
    nowMs,
    headers: {},
    metadata: null,
    body: JSON.stringify(event),
  }
}
