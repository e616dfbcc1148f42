import { Link } from '@tanstack/react-router'
import { useApi } from '../../api/use-api.ts'
import { countOf } from '../../parts/numbers.ts'
import { stateLook } from '../../parts/states.ts'

const shown = 60
const colours = {
  ok: 'var(--line-strong)',
  bad: 'var(--bad)',
  accent: 'var(--accent)',
  warn: 'var(--warn)',
  neutral: 'transparent',
} as const

/** The last outcomes, the oldest first; each leads to its run. */
export function OutcomeStrip({ job }: { readonly job: string }) {
  const { data } = useApi('runs.list', { query: { job, limit: shown } }, { pollMs: 5000 })
  const runs = (data?.data ?? []).toReversed()
  if (runs.length === 0) return null
  const words = new Map<string, number>()
  for (const { state } of runs) words.set(state, (words.get(state) ?? 0) + 1)
  const summary = [...words]
    .map(([state, count]) => `${count} ${stateLook('run', state).word.toLowerCase()}`)
    .join(', ')
  return (
    <section className="card" aria-label="Last runs">
      <header>
        <h2>Last {countOf(runs.length, 'run')}</h2>
        <span className="hint">{summary}</span>
      </header>
      <div className="body flex flex-wrap gap-[2px]">
        {runs.map(({ id, state }) => {
          const look = stateLook('run', state)
          return (
            <Link
              key={id}
              to="/runs/$id"
              params={{ id }}
              aria-label={`${id}: ${look.word}`}
              title={`${look.word}, ${id}`}
              className="w-6 h-6 rounded-sm border border-line-strong grid place-items-center"
              style={{ background: colours[look.tone] }}
            >
              <span aria-hidden="true" className="text-[10px] leading-none text-surface">
                {look.tone === 'bad' ? '×' : ''}
              </span>
            </Link>
          )
        })}
      </div>
    </section>
  )
}
