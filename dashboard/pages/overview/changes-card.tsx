import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import type { Mark } from '../../charts/marks.ts'
import { Time } from '../../parts/time.tsx'
import { changeWords } from './change-words.ts'

type Change = Answer<'overview.get'>['changes'][number]

/** The first question in an incident: what changed? The letters are those in the charts. */
export function ChangesCard({ marks }: { readonly marks: readonly Mark<Change>[] }) {
  return (
    <section className="card">
      <header>
        <h2>What changed</h2>
        <span className="hint">letters mark the charts</span>
        {may('administer') && <Link to="/audit">Audit</Link>}
      </header>
      {marks.length === 0 ? (
        <p className="body quiet">Nothing yet.</p>
      ) : (
        <ul>
          {marks.map(({ at, letter, change: { action, subject } }) => (
            <li
              key={`${at} ${action} ${subject}`}
              className="flex gap-4 px-4 py-2 border-b border-line last:border-0"
            >
              {letter === null ? (
                <span className="letter" aria-hidden="true">
                  –
                </span>
              ) : (
                <span className="letter">{letter}</span>
              )}
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
