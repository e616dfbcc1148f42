import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { serverNowMs } from '../../live/server-clock.ts'
import type { Column } from '../../parts/column.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { formatSpan } from '../../parts/numbers.ts'
import { RowButton } from '../../parts/row-button.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { Time } from '../../parts/time.tsx'
import { thresholdText } from './amount-text.ts'
import type { Rule, RuleChoice } from './rule-dialog.tsx'

const RuleDialog = lazy(async () => ({ default: (await import('./rule-dialog.tsx')).RuleDialog }))

function columnsWith(onChoose: (choice: RuleChoice) => void): readonly Column<Rule>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      phone: 'title',
      cell: ({ name, endpoint, tag }) => (
        <>
          {name} {endpoint !== null && <span className="tag">{endpoint}</span>}
          {tag !== null && <span className="tag">tag {tag}</span>}
        </>
      ),
    },
    { id: 'severity', header: 'Severity', phone: 'aside', cell: ({ severity }) => severity },
    {
      id: 'threshold',
      header: 'Fires',
      isNumber: true,
      phone: 'detail',
      cell: ({ kind, threshold }) => thresholdText(kind, threshold),
    },
    { id: 'hold', header: 'For', isNumber: true, cell: ({ holdMs }) => formatSpan(holdMs) },
    {
      id: 'state',
      header: 'State',
      phone: 'detail',
      isPlain: true,
      cell: ({ enabled, silencedUntil }) => (
        <>
          {enabled ? 'on' : 'off'}
          {silencedUntil !== null && Date.parse(silencedUntil) > serverNowMs() && (
            <>
              , silenced until <Time at={silencedUntil} />
            </>
          )}
        </>
      ),
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (rule) =>
        (['edit', 'silence', 'delete'] as const)
          .filter((dialog) => may(dialog === 'silence' ? 'operate' : 'configure'))
          .map((dialog) => (
            <RowButton
              key={dialog}
              text={verbs[dialog]}
              of={rule.name}
              onPress={() => onChoose({ dialog, rule })}
            />
          )),
    },
  ]
}

const verbs = { edit: 'Edit…', silence: 'Silence…', delete: 'Delete…' } as const

/** When an alert is sent. */
export function RulesCard() {
  const rules = useApi('alerts.listRules', {}, { topics: ['changes'] })
  const [choice, setChoice] = useState<RuleChoice | null>(null)
  const columns = useMemo(() => columnsWith(setChoice), [])
  return (
    <section className="card">
      <header>
        <h2>Rules</h2>
        <span className="hint">conditions that send an alert</span>
        {may('configure') && (
          <button type="button" className="button" onClick={() => setChoice({ dialog: 'new' })}>
            New rule…
          </button>
        )}
      </header>
      <Loaded of={rules}>
        {({ data }) => <SimpleTable label="Rules" rows={data} columns={columns} rowId={({ name }) => name} />}
      </Loaded>
      <Suspense>{choice !== null && <RuleDialog choice={choice} onClose={() => setChoice(null)} />}</Suspense>
    </section>
  )
}
