import type { Answer } from '../../api/call.ts'
import { Time } from '../../parts/time.tsx'
import { changeWords } from './change-words.ts'

const shown = 8

/** The first question in an incident: what changed? */
export function ChangesCard({ changes }: { readonly changes: Answer<'overview.get'>['changes'] }) {
  return (
    <section className="card">
      <header>
        <h2>What changed</h2>
        <span className="hint">by people and by Holdfast</span>
      </header>
      {changes.length === 0 ? (
        <p className="body quiet">Nothing yet.</p>
      ) : (
        <ul>
          {changes.slice(0, shown).map(({ at, action, subject }) => (
            <li
              key={`${at} ${action} ${subject}`}
              className="flex gap-4 px-4 py-2 border-b border-line last:border-0"
            >
              <span className="quiet">
                <Time at={at} />
              </span>
              <span className="text">{changeWords(action, subject)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
