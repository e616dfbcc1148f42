import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { createWorker } from '../../../src/sdk/create-worker.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

describe('traces', () => {
  const exporter = new InMemorySpanExporter()
  let rig: Rig
  let node: RunningNode
  let receiver: HttpReceiver

  beforeAll(async () => {
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    )
    rig = await Rig.create()
    receiver = await HttpReceiver.start()
    node = await rig.start({ allowNetworks: ['127.0.0.0/8'], allowPorts: 'any' })
  })
  afterEach(() => exporter.reset())
  afterAll(async () => {
    await rig.stop()
    await receiver.stop()
    trace.disable()
    context.disable()
  })

  const spansOf = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name)

  it('lead from the publisher through the delivery to the receiver', async () => {
    await node.holdfast.endpoints.create({
      name: 'crm',
      eventTypes: ['order.*'],
      config: { url: receiver.url },
    })
    await node.holdfast.publish('order.created', { total: 3 }, { correlationId: 'corr-7' })
    const [request] = await receiver.ledger.waitFor(1)
    await until('the span of the delivery', () => spansOf('deliver crm').length === 1)
    const [published] = spansOf('publish order.created')
    const [delivered] = spansOf('deliver crm')
    expect(delivered!.spanContext().traceId).toBe(published!.spanContext().traceId)
    expect(delivered!.parentSpanContext?.spanId).toBe(published!.spanContext().spanId)
    expect(delivered!.attributes).toMatchObject({
      'messaging.destination.name': 'crm',
      'messaging.message.conversation_id': 'corr-7',
      'messaging.message.id': request!.webhookId,
      'holdfast.attempt': 1,
      'holdfast.outcome': 'success',
      'http.response.status_code': 200,
    })
    const { traceId, spanId } = delivered!.spanContext()
    expect(request!.headers['traceparent']).toBe(`00-${traceId}-${spanId}-01`)
  })

  it('lead from the enqueuer to each attempt of a run', async () => {
    let tries = 0
    const job = defineJob({
      name: 'traced',
      retry: { strategy: 'fixed', baseDelayMs: 10, jitter: 'none' },
      run: () => {
        tries += 1
        if (tries === 1) throw Object.assign(new Error('the secret is 42'), { code: 'E_FIRST' })
      },
    })
    const worker = await createWorker({ databaseUrl: rig.database.url, jobs: [job], journalFolder: null })
    try {
      const { id } = await node.holdfast.enqueue(job, {}, { correlationId: 'corr-8' })
      await until('both spans', () => spansOf('run traced').length === 2)
      const [published] = spansOf('publish traced')
      const [failed, done] = spansOf('run traced')
      for (const span of [failed!, done!]) {
        expect(span.parentSpanContext?.spanId).toBe(published!.spanContext().spanId)
        expect(span.attributes).toMatchObject({
          'messaging.message.id': id,
          'messaging.message.conversation_id': 'corr-8',
        })
      }
      expect(failed).toMatchObject({
        status: { code: SpanStatusCode.ERROR, message: 'E_FIRST' },
        attributes: { 'holdfast.attempt': 1, 'holdfast.outcome': 'failed' },
      })
      expect(done).toMatchObject({
        status: { code: SpanStatusCode.UNSET },
        attributes: { 'holdfast.attempt': 2, 'holdfast.outcome': 'succeeded' },
      })
    } finally {
      await worker.stop()
    }
  })

  it('have one span for each attempt, and say which failed', async () => {
    let tries = 0
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        tries += 1
        if (tries === 1) throw new Error('the secret is 42')
      },
      { retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } },
    )
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    const [published] = spansOf(`publish ${name}`)
    const spans = spansOf(`deliver ${name}`)
    expect(spans.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
    for (const span of spans) expect(span.spanContext().traceId).toBe(published!.spanContext().traceId)
    expect(JSON.stringify(spans.map(({ status, attributes }) => ({ status, attributes })))).not.toContain(
      'secret',
    )
  })

  it('keep a given traceparent, and continue the trace of the caller', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await node.holdfast.send(name, 1, { headers: { traceparent } })
    await rig.rows(
      `select holdfast.send($1, '2', jsonb_build_object('headers', jsonb_build_object('traceparent', 'broken')))`,
      [name],
    )
    await rig.whenSettled(name)
    await until('both spans', () => spansOf(`deliver ${name}`).length === 2)
    const [first, second] = spansOf(`deliver ${name}`)
    expect(first!.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c')
    expect(first!.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    expect(second!.parentSpanContext).toBeUndefined()
  })

  it('link a batch to all that it carries', async () => {
    await node.holdfast.endpoints.create({
      name: 'lrs',
      config: { url: receiver.url },
      batch: { maxMessages: 10, maxWaitMs: 50 },
    })
    const before = receiver.ledger.count
    await rig.pause(node, 'lrs')
    for (const payload of [1, 2, 3]) await node.holdfast.send('lrs', payload)
    await node.holdfast.endpoints.resume('lrs')
    await receiver.ledger.waitFor(before + 1)
    await until('the span of the batch', () => spansOf('deliver lrs').length === 1)
    const published = spansOf('publish lrs').map((span) => span.spanContext().spanId)
    const [batch] = spansOf('deliver lrs')
    expect(batch!.links.map(({ context }) => context.spanId).sort()).toEqual(published.sort())
    expect(receiver.ledger.requests.at(-1)!.headers['traceparent']).toContain(batch!.spanContext().spanId)
  })
})
