import type { Answer } from '../../api/call.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { formatDuration } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { stateLook } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import { visibleText } from '../../parts/visible-text.ts'
import { curlCommand } from './curl-command.ts'
import { type Message, MessageText } from './message-text.tsx'
import { TimingSplit } from './timing-split.tsx'

export type Attempt = Answer<'deliveries.get'>['attempts'][number]

/** Attempts, the newest first and open, with what was sent and what came back. */
export function AttemptList({ attempts }: { readonly attempts: readonly Attempt[] }) {
  const newestFirst = attempts.toReversed()
  return (
    <section className="card" aria-label="Attempts">
      <header>
        <h2>Attempts</h2>
        <span className="hint">{attempts.length}, newest first</span>
      </header>
      {newestFirst.length === 0 && <p className="body quiet">None yet.</p>}
      {newestFirst.map((attempt, place) => (
        <AttemptRow key={`${attempt.attempt} ${attempt.startedAt}`} attempt={attempt} isOpen={place === 0} />
      ))}
    </section>
  )
}

function AttemptRow({ attempt, isOpen }: { readonly attempt: Attempt; readonly isOpen: boolean }) {
  const { outcome, statusCode, errorCode, error, isProbe, durationMs, startedAt, detail } = attempt
  const { word } = stateLook('outcome', outcome)
  return (
    <details className="attempt" open={isOpen}>
      <summary>
        <b>Attempt {attempt.attempt}</b>
        <State
          kind="outcome"
          value={outcome}
          word={
            statusCode !== null
              ? `${word} ${statusCode}`
              : errorCode === null
                ? word
                : errorCode.replaceAll('_', ' ')
          }
        />
        <span className="text line-clamp-2">
          {isProbe && (
            <>
              <span className="tag">probe</span>{' '}
            </>
          )}
          {error === null ? '' : visibleText(error)}
        </span>
        <span className="whitespace-nowrap">{durationMs === null ? '–' : formatDuration(durationMs)}</span>
        <span className="quiet">
          <Time at={startedAt} />
        </span>
      </summary>
      <div className="inside">
        {detail === null ? (
          <p className="quiet">
            {outcome === 'success'
              ? 'The request and the answer of a success are not kept, unless the endpoint captures all.'
              : 'The request and the answer were not kept.'}
          </p>
        ) : (
          <AttemptDetail detail={detail} durationMs={durationMs} errorCode={errorCode} />
        )}
      </div>
    </details>
  )
}

function AttemptDetail({
  detail,
  durationMs,
  errorCode,
}: {
  readonly detail: Record<string, unknown>
  readonly durationMs: number | null
  readonly errorCode: string | null
}) {
  const request = detail['request'] as Message | undefined
  const response = detail['response'] as Message | undefined
  const timings = detail['timings'] as Record<string, number> | undefined
  return (
    <>
      {timings !== undefined && <TimingSplit timings={timings} totalMs={durationMs ?? 0} />}
      <div className="columns lg:grid-cols-2">
        {request !== undefined && (
          <div className="grid gap-1">
            <div className="flex items-center gap-2 min-h-7">
              <h3>Request, as sent</h3>
              <CopyButton text={curlCommand(request)} label="Copy as curl" />
            </div>
            <MessageText
              message={request}
              label="Request"
              first={`${request.method ?? ''} ${request.url ?? ''}`}
            />
          </div>
        )}
        <div className="grid gap-1 content-start">
          <h3 className="flex items-center min-h-7">Answer</h3>
          {response === undefined ? (
            <p className="code wrap">
              None
              {errorCode === 'timeout'
                ? ': the receiver may have processed the request; it can deduplicate on webhook-id.'
                : '.'}
            </p>
          ) : (
            <MessageText message={response} label="Answer" first={`HTTP ${response.status ?? ''}`} />
          )}
        </div>
      </div>
    </>
  )
}
