import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { AttemptOutcome } from '../core/delivery/attempt.ts'

/** The W3C header of the trace context; it is stored among a message's own headers. */
export const traceHeader = 'traceparent'

const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
/** A batch of a thousand messages can be found without a thousand links. */
const maxLinks = 128

const tracer = () => trace.getTracer('holdfast')

/** Whether tracing is on in this process. Checked when a node starts, not for each attempt. */
export function isTracing(): boolean {
  const span = tracer().startSpan('holdfast.start', {}, ROOT_CONTEXT)
  const isHeard = isSpanContextValid(span.spanContext())
  if (isHeard) span.end()
  return isHeard
}

/** @example formatTraceparent(span.spanContext()) // '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' */
export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

/** Returns null for an invalid traceparent: the value comes from outside. */
export function parseTraceparent(text: unknown): SpanContext | null {
  const match = typeof text === 'string' ? traceparentPattern.exec(text) : null
  if (match === null) return null
  const [, traceId = '', spanId = '', flags = ''] = match
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(spanContext) ? spanContext : null
}

interface Traceable {
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Stores items under a new span, and adds its traceparent to items that have none. Without a tracer it only calls `store`. */
export async function tracePublish<Item extends Traceable, Result>(
  destination: string,
  items: readonly Item[],
  store: (items: readonly Item[]) => Promise<Result>,
): Promise<Result> {
  const span = tracer().startSpan(`publish ${destination}`, {
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system': 'holdfast',
      'messaging.operation.name': 'publish',
      'messaging.destination.name': destination,
      'messaging.batch.message_count': items.length,
    },
  })
  const spanContext = span.spanContext()
  if (!isSpanContextValid(spanContext)) return store(items)
  const traceparent = formatTraceparent(spanContext)
  const traced = items.map((item) =>
    hasTrace(item) ? item : { ...item, headers: { ...item.headers, [traceHeader]: traceparent } },
  )
  try {
    return await context.with(trace.setSpan(context.active(), span), () => store(traced))
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' })
    throw error
  } finally {
    span.end()
  }
}

function hasTrace({ headers }: Traceable): boolean {
  return headers !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === traceHeader)
}

export interface DeliverySpan {
  /** The parent that is sent to the receiver. */
  readonly traceparent: string
  /** Runs the attempt, so that spans started in it (by a handler, for example) become its children. */
  run<Result>(work: () => Result): Result
  end(outcome: AttemptOutcome | null): void
}

/**
 * Starts a span of one attempt. For one message it is a child of the publishing span; for a batch it is
 * linked to the publishing span of each message.
 */
export function startDeliverySpan(
  endpoint: string,
  stored: readonly (string | undefined)[],
  attributes: Attributes,
): DeliverySpan {
  const origins = stored.map(parseTraceparent).filter((origin) => origin !== null)
  const [only] = origins
  const isSingle = stored.length === 1
  const parent: Context =
    isSingle && only !== undefined ? trace.setSpanContext(ROOT_CONTEXT, only) : ROOT_CONTEXT
  const links: Link[] = isSingle ? [] : origins.slice(0, maxLinks).map((origin) => ({ context: origin }))
  const span = tracer().startSpan(
    `deliver ${endpoint}`,
    {
      kind: SpanKind.CLIENT,
      links,
      attributes: {
        'messaging.system': 'holdfast',
        'messaging.operation.name': 'deliver',
        'messaging.destination.name': endpoint,
        ...attributes,
      },
    },
    parent,
  )
  const active = trace.setSpan(parent, span)
  return {
    traceparent: formatTraceparent(span.spanContext()),
    run: (work) => context.with(active, work),
    end: (outcome) => endSpan(span, outcome),
  }
}

/** `outcome` is null if it is unknown how the attempt ended, or nothing was sent. */
function endSpan(span: Span, outcome: AttemptOutcome | null): void {
  if (outcome !== null) {
    span.setAttribute('holdfast.outcome', outcome.class)
    if (outcome.statusCode !== undefined) span.setAttribute('http.response.status_code', outcome.statusCode)
    if (outcome.class !== 'success') {
      // Only the code: messages may quote a receiver's answer.
      span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.error?.code ?? outcome.class })
    }
  }
  span.end()
}

export interface RunSpan {
  /** Runs the handler, so that spans started in it become children of the run's span. */
  run<Result>(work: () => Result): Result
  /** `errorCode`: null if the run succeeded. */
  end(ending: string, errorCode: string | null): void
}

/** Starts a span of one execution of a job: a child of the enqueuing span, even hours and retries later. */
export function startRunSpan(job: string, stored: string | undefined, attributes: Attributes): RunSpan {
  const origin = parseTraceparent(stored)
  const parent = origin === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, origin)
  const span = tracer().startSpan(
    `run ${job}`,
    {
      kind: SpanKind.CONSUMER,
      attributes: {
        'messaging.system': 'holdfast',
        'messaging.operation.name': 'process',
        'messaging.destination.name': job,
        ...attributes,
      },
    },
    parent,
  )
  const active = trace.setSpan(parent, span)
  return {
    run: (work) => context.with(active, work),
    end: (ending, errorCode) => {
      span.setAttribute('holdfast.outcome', ending)
      // Only the code: messages may quote text from elsewhere.
      if (errorCode !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode })
      span.end()
    },
  }
}
