import { useEffect, useRef } from 'react'
import { usePreferences } from '../../frame/preferences.ts'
import { countOf } from '../../parts/numbers.ts'
import { formatLogTime } from '../../parts/times.ts'
import { visibleText } from '../../parts/visible-text.ts'

interface Line {
  readonly at?: string
  readonly level?: string
  readonly message?: string
  readonly details?: unknown
}

const tones: Readonly<Record<string, string>> = {
  warn: 'value',
  error: 'text-bad',
  info: 'punctuation',
  debug: 'punctuation',
}

/** The log as it comes; it follows its end until somebody scrolls up. */
export function RunLog({
  logs,
  isRunning,
}: {
  readonly logs: readonly unknown[]
  readonly isRunning: boolean
}) {
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  const { zone } = usePreferences()
  useEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight })
  })
  return (
    <section className="card" aria-label="Log">
      <header>
        <h2>Log</h2>
        <span className="hint">{isRunning ? 'following' : countOf(logs.length, 'line')}</span>
      </header>
      <div className="body">
        {logs.length === 0 ? (
          <p className="quiet">{isRunning ? 'Nothing logged yet.' : 'Nothing was logged.'}</p>
        ) : (
          <pre
            ref={box}
            className="code wrap"
            tabIndex={0}
            role="log"
            aria-label="Log lines"
            onScroll={({ currentTarget }) => {
              isAtEnd.current =
                currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 24
            }}
          >
            {(logs as readonly Line[]).map(({ at, level = 'info', message, details }, place) => (
              // oxlint-disable-next-line react/no-array-index-key -- lines are only ever added
              <div key={place}>
                <span className="punctuation">
                  {at === undefined ? '' : formatLogTime(new Date(at), zone)}{' '}
                </span>
                <span className={tones[level] ?? ''}>{level.padEnd(5)} </span>
                <bdi>{visibleText(message ?? '')}</bdi>
                {details !== undefined && (
                  <span className="punctuation"> {visibleText(JSON.stringify(details))}</span>
                )}
              </div>
            ))}
          </pre>
        )}
      </div>
    </section>
  )
}
