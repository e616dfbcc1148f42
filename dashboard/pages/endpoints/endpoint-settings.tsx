import type { Answer } from '../../api/call.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { formatCount, formatSpan } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'

/** What is set, in words; secrets are never shown. */
export function EndpointSettings({ endpoint }: { readonly endpoint: Answer<'endpoints.get'> }) {
  const { retry, circuit, limits, autoDisable } = endpoint
  const facts: readonly (readonly [string, string])[] = [
    ['Preset', endpoint.preset],
    ['Event types', endpoint.eventTypes.join(', ') || 'by its routes'],
    ['Tenant', endpoint.tenant ?? 'any'],
    [
      'Retries',
      `${retry.maxRetries}, ${retry.strategy}, from ${formatSpan(retry.baseDelayMs)} to ${formatSpan(retry.maxDelayMs)}, jitter ${retry.jitter}`,
    ],
    ['Gives up after', formatSpan(retry.giveUpAfterMs)],
    [
      'Circuit',
      `opens after ${circuit.threshold} failures in a row, probes after ${formatSpan(circuit.cooldownMs)}`,
    ],
    [
      'Limits',
      `${formatCount(limits.concurrency)} at once, ${limits.ratePerSecond === null ? 'no rate limit' : `${limits.ratePerSecond} per second`}, ${formatCount(limits.maxPending)} waiting at most`,
    ],
    ['When full', limits.onFull === 'reject' ? 'publishing is refused' : 'becomes a dead letter'],
    [
      'Auto-disable',
      autoDisable.threshold === null
        ? autoDisable.onGone
          ? 'when it answers 410'
          : 'off'
        : `after ${autoDisable.threshold} failures in ${formatSpan(autoDisable.windowMs)}`,
    ],
    [
      'After a dead letter',
      endpoint.onDead === 'block' ? 'its ordering key waits' : 'its ordering key goes on',
    ],
  ]
  return (
    <div className="columns lg:grid-cols-2">
      <section className="card">
        <header>
          <h2>Policies</h2>
          <span className="hint">
            changed <Time at={endpoint.updatedAt} />
          </span>
        </header>
        <dl className="body facts">
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section className="card">
        <header>
          <h2>Transport</h2>
          <span className="hint">{endpoint.transport}</span>
        </header>
        <div className="body grid gap-3">
          <JsonView value={endpoint.config} label="Configuration" />
          {endpoint.secrets.map(({ field, setAt, expiresAt }) => (
            <p key={`${field} ${setAt}`} className="hint">
              <code>{field}</code> is set since <Time at={setAt} />
              {expiresAt !== null && (
                <>
                  , until <Time at={expiresAt} />
                </>
              )}
            </p>
          ))}
        </div>
      </section>
    </div>
  )
}
