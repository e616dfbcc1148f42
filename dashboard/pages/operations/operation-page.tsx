import { useParams } from '@tanstack/react-router'
import { useApi } from '../../api/use-api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { countOf } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { FilterText } from './filter-text.tsx'
import { OperationOutcome } from './operation-outcome.tsx'
import { OperationProgress, OperationSteering } from './operation-progress.tsx'
import { operationWords } from './operation-words.ts'
import { SkippedLetters } from './skipped-letters.tsx'

const settlesLetters: ReadonlySet<string> = new Set(['redrive', 'resolve', 'discard'])

/** How far is it, and what was left alone? */
export function OperationPage() {
  const { id } = useParams({ from: '/operations/$id' })
  const operation = useApi('operations.get', { params: { id } }, { pollMs: 1000 })
  return (
    <>
      <PageTitle
        title={operation.data === undefined ? id : operationWords(operation.data.kind)}
        section="Operations"
        states={
          operation.data !== undefined && <State kind="operation" value={operation.data.state} isPill />
        }
        hint={<code>{id}</code>}
        actions={operation.data !== undefined && <OperationSteering operation={operation.data} />}
      />
      <Loaded of={operation}>
        {(data) => (
          <>
            <section className="card" aria-label="Progress">
              <div className="body">
                <OperationProgress operation={data} />
              </div>
            </section>
            {(data.kind === 'redrive' || data.kind === 'replay') && <OperationOutcome operation={data} />}
            {settlesLetters.has(data.kind) && <SkippedLetters operation={data} />}
            <div className="columns lg:grid-cols-2">
              <section className="card">
                <header>
                  <h2>Facts</h2>
                </header>
                <dl className="body facts">
                  <dt>Scope</dt>
                  <dd>
                    {countOf(data.total, 'match', 'matches')} of its filter at <Time at={data.asOfAt} />; what
                    came later is left out
                  </dd>
                  <dt>Filter</dt>
                  <dd className="text">
                    <FilterText filter={data.filter} />
                  </dd>
                  <dt>Started by</dt>
                  <dd>
                    <bdi>{data.createdBy}</bdi>, <Time at={data.createdAt} />
                  </dd>
                  <dt>Ended</dt>
                  <dd>
                    <Time at={data.finishedAt} />
                  </dd>
                  <dt>Node</dt>
                  <dd>{data.node ?? '–'}</dd>
                </dl>
              </section>
              {Object.keys(data.options).length > 0 && (
                <section className="card">
                  <header>
                    <h2>Options</h2>
                  </header>
                  <div className="body">
                    <JsonView value={data.options} label="Options" />
                  </div>
                </section>
              )}
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}
