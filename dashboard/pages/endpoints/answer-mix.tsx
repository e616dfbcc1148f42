import type { Answer } from '../../api/call.ts'
import { countOf, formatCount, formatPercent } from '../../parts/numbers.ts'

/** What the receiver answered, the most frequent first: `503`, `timeout`, `429 throttled`. */
export function Answers({
  statistics,
  span,
}: {
  readonly statistics: Answer<'statistics.endpoint'>
  readonly span: string
}) {
  const answers = Object.entries(statistics.answers).sort(([, left], [, right]) => right - left)
  return (
    <section className="card" aria-label="Answers">
      <header>
        <h2>Answers, {span}</h2>
        <span className="hint">{countOf(statistics.attempts, 'attempt')}</span>
      </header>
      {answers.length === 0 && <p className="body quiet">No attempt in this time range.</p>}
      {answers.length > 0 && (
        <div className="body bars">
          {answers.map(([answer, count]) => {
            const share = count / Math.max(1, statistics.attempts)
            return (
              <div key={answer} className="contents">
                <span>{answerWords(answer)}</span>
                <div className="bar">
                  <div
                    className="h-full"
                    style={{ width: `${Math.max(1, share * 100)}%`, background: colourOf(answer) }}
                  />
                </div>
                <span className="text-right">
                  {formatPercent(share)} <span className="hint">{formatCount(count)}</span>
                </span>
              </div>
            )
          })}
        </div>
      )}
    </section>
  )
}

function answerWords(answer: string): string {
  if (isSuccess(answer)) return `${answer} success`
  if (answer === '429') return '429 throttled'
  return answer.replaceAll('_', ' ')
}

function isSuccess(answer: string): boolean {
  return /^2\d\d$|^ok$/.test(answer)
}

function colourOf(answer: string): string {
  if (isSuccess(answer)) return 'var(--accent)'
  return answer === '429' ? 'var(--warn)' : 'var(--bad)'
}
