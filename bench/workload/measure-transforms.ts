import type { CompiledTransform, TransformInput } from '../../dist/transforms/transform.js'
import { forEachConcurrently } from '../contenders/contender.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { makePayload } from './payload.ts'

/** The default concurrency of an endpoint. */
const CONCURRENCY = 64
const ALONE_MESSAGES = 1000

const TEMPLATE = {
  id: '{{ order }}',
  customer: '{{ customer.id }}',
  first: '{{ lines[0].sku }}',
  total: '{{ totalCents }}',
  text: 'Order {{ order }} of {{ customer.id }}: {{ note ?? "no note" }}',
  message: '{{ $messageId }}',
}

const EXPRESSION = `{
  "id": order,
  "customer": customer.id,
  "pieces": $sum(lines.quantity),
  "skus": lines[quantity > 1].sku,
  "total": totalCents / 100
}`

/** Microseconds to render a message with a compiled template. */
export async function measureTemplate(context: SampleContext): Promise<Sample> {
  const { templateTransform } = await import('../../dist/transforms/template/template-transform.js')
  const transform = templateTransform().compile({ template: TEMPLATE })
  return { ...(await measure(transform, context.messages, 1)), settings: {} }
}

/**
 * Microseconds to evaluate a compiled JSONata expression, in its own process. The row's value is the time between results with as many evaluations in
 * flight as an endpoint sends at once; the detail is the duration of a single one.
 */
export async function measureJsonata(context: SampleContext): Promise<Sample> {
  const { jsonataTransform } = await import('../../dist/transforms/jsonata/jsonata-transform.js')
  const transform = jsonataTransform().compile({ expression: EXPRESSION })
  try {
    const { value, details } = await measure(transform, context.messages / 5, CONCURRENCY)
    const alone = await measure(transform, ALONE_MESSAGES, 1)
    return {
      value,
      details: { ...details, aloneMicroseconds: alone.value },
      settings: { concurrency: CONCURRENCY },
    }
  } finally {
    await transform.close()
  }
}

async function measure(
  transform: CompiledTransform,
  messages: number,
  concurrency: number,
): Promise<Omit<Sample, 'settings'>> {
  const inputs = Array.from({ length: messages }, (_, sequence) => makeInput(sequence))
  await renderAll(transform, inputs.slice(0, messages / 10), concurrency)
  const startedMs = performance.now()
  await renderAll(transform, inputs, concurrency)
  const elapsedMs = performance.now() - startedMs
  return { value: (elapsedMs / messages) * 1000, details: { messages, elapsedMs } }
}

async function renderAll(
  transform: CompiledTransform,
  inputs: readonly TransformInput[],
  concurrency: number,
): Promise<void> {
  await forEachConcurrently(inputs, concurrency, async (input) => {
    const result = await transform.render(input)
    if (!result.ok) throw new Error(result.error.message)
  })
}

function makeInput(sequence: number): TransformInput {
  return {
    messageId: `msg_${sequence}`,
    deliveryId: `dlv_${sequence}`,
    eventType: 'order.paid',
    tenant: null,
    correlationId: null,
    endpoint: 'crm',
    attempt: 1,
    createdAtMs: 1_900_000_000_000,
    nowMs: 1_900_000_001_000,
    headers: {},
    metadata: null,
    body: JSON.stringify(makePayload(sequence)),
  }
}
