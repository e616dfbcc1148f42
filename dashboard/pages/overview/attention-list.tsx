import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { Empty } from '../../parts/empty.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { nextStep } from './next-step.ts'

type Attention = Answer<'overview.get'>['attention'][number]

/** Problems first, each with its cause and its one next step; what recovers on its own apart, below. */
export function AttentionList({ attention }: { readonly attention: readonly Attention[] }) {
  const needed = attention.filter(({ recovers }) => !recovers)
  const recovering = attention.filter(({ recovers }) => recovers)
  return (
    <section className="card" aria-labelledby="needs-action">
      <div className="group-head">
        <h2 id="needs-action">Needs action</h2>
        {needed.length}
      </div>
      {needed.length === 0 ? (
        <Empty icon="ok" isWell title="Nothing needs action">
          <p>Every circuit is closed, and there are no open dead letters.</p>
        </Empty>
      ) : (
        <List attention={needed} />
      )}
      {recovering.length > 0 && (
        <>
          <div className="group-head middle">
            <h2>Recovers on its own</h2>
            {recovering.length}
          </div>
          <List attention={recovering} />
        </>
      )}
    </section>
  )
}

function List({ attention }: { readonly attention: readonly Attention[] }) {
  return (
    <ul className="attention">
      {attention.map((one) => (
        <Row key={`${one.kind} ${one.subject}`} attention={one} />
      ))}
    </ul>
  )
}

function Row({ attention }: { readonly attention: Attention }) {
  const { kind, subject, sentence, since, until, recovers } = attention
  const step = nextStep(kind, subject)
  const [, what = '', name = subject] = /^(\w+):(.*)$/s.exec(subject ?? '') ?? []
  return (
    <li>
      <State kind="attention" value={kind} />
      <div className="what">
        <h3 className="text">
          {subject === null ? 'All endpoints' : name}
          {what !== '' && what !== 'endpoint' && <span className="tag ml-2">{what}</span>}
        </h3>
        <p>
          {sentence}
          {until !== null && kind === 'circuit_open' && (
            <>
              {' '}
              Next probe <Time at={until} as="in" />.
            </>
          )}
        </p>
      </div>
      <div className="since">
        {recovers && until !== null ? (
          <>
            until <Time at={until} />
          </>
        ) : (
          since !== null && <Time at={since} as="ago" />
        )}
      </div>
      {step !== null && (
        <Link
          to={step.path}
          className={`button next${recovers ? ' ghost' : ''}`}
          {...(step.search && { search: step.search })}
        >
          {step.label}
        </Link>
      )}
    </li>
  )
}
