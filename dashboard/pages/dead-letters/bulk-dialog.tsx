import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import { type Answer, call, type Input } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { useApi } from '../../api/use-api.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { EndpointState } from '../../parts/endpoint-state.tsx'
import { Icon } from '../../parts/icon.tsx'
import { countOf, formatCount, formatSpan } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { Time } from '../../parts/time.tsx'
import { watchOperation } from '../operations/watched-operations.ts'
import type { BulkKind, LetterFilter } from './letters-view.tsx'

type Body = Input<'operations.create'>['body']

const words = {
  redrive: { verb: 'Redrive', pending: 'Starting…' },
  resolve: { verb: 'Resolve', pending: 'Starting…' },
  discard: { verb: 'Discard', pending: 'Starting…' },
} as const

/** Counts first, then acts on exactly what was counted; what changed since is skipped. */
export function BulkDialog({
  kind,
  filter,
  endpoint,
  onClose,
  onMilder,
  onStarted,
}: {
  readonly kind: BulkKind
  readonly filter: LetterFilter
  readonly endpoint: string | null
  readonly onClose: () => void
  /** Offers what destroys nothing instead. */
  readonly onMilder: () => void
  readonly onStarted: () => void
}) {
  const id = useId()
  const navigate = useNavigate()
  const [rate, setRate] = useState('50')
  const open: LetterFilter = { ...filter, state: 'open' }
  const isAll = Object.keys(filter).every((name) => name === 'state')
  const base = { filter: open, ...(isAll && { all: true as const }) }
  // Counted once for this dialog: the number on the button is the number that was counted.
  const preview = useQuery<Awaited<ReturnType<typeof count>>, ApiProblem>({
    queryKey: ['bulk-preview', kind, base],
    queryFn: () => count(kind, base),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const action = useAction('operations.create', {
    said: ({ total }) => `${words[kind].verb}: ${countOf(total, 'letter')} started.`,
    onDone: (operation) => {
      watchOperation(operation.id)
      onStarted()
      if (operation.total > 1000) void navigate({ to: '/operations/$id', params: { id: operation.id } })
    },
  })
  const total = preview.data?.count
  const ratePerSecond = Number(rate)
  const isRateRight = rate.trim() === '' || (Number.isFinite(ratePerSecond) && ratePerSecond >= 0.01)
  const { verb, pending } = words[kind]
  const confirm = (reason: string | undefined): void => {
    if (preview.data === undefined) return
    const counted = { ...base, asOf: preview.data.asOf }
    const body: Body =
      kind === 'redrive'
        ? {
            kind,
            ...counted,
            ...(rate.trim() !== '' && { ratePerSecond }),
            ...(reason !== undefined && { reason }),
          }
        : kind === 'resolve'
          ? { kind, ...counted, ...(reason !== undefined && { note: reason }) }
          : { kind, ...counted, reason: reason ?? '' }
    action.mutate({ body })
  }
  return (
    <ActionDialog
      title={`${verb} ${total === undefined ? '' : countOf(total, 'dead letter')}${endpoint === null ? '' : ` of ${endpoint}`}?`}
      verb={`${verb} ${total === undefined ? '' : formatCount(total)}`.trim()}
      pendingVerb={pending}
      action={action}
      isDanger={kind === 'discard'}
      isReady={total !== undefined && total > 0 && isRateRight}
      onClose={onClose}
      onConfirm={confirm}
      reason={kind === 'discard' ? 'required' : 'optional'}
      {...(kind === 'discard' && total !== undefined && { typed: String(total) })}
    >
      {preview.error !== null && <ProblemNote problem={preview.error} />}
      <p className="quiet">{meaning[kind]}</p>
      <dl className="facts">
        <dt>Counted</dt>
        <dd>
          {preview.data === undefined ? (
            'counting…'
          ) : (
            <>
              {countOf(preview.data.count, 'letter')} at <Time at={preview.data.at} />. What changes after
              that is skipped.
            </>
          )}
        </dd>
        {preview.data?.breakdown != null && <Breakdown breakdown={preview.data.breakdown} />}
        {endpoint !== null && kind === 'redrive' && <EndpointNow name={endpoint} />}
        {kind === 'redrive' && <Trial filter={open} />}
      </dl>
      {kind === 'redrive' && (
        <div className="field">
          <label htmlFor={`${id}-rate`}>
            At most so many per second (empty: as fast as they can be written)
          </label>
          <input
            id={`${id}-rate`}
            className="input"
            inputMode="decimal"
            value={rate}
            aria-invalid={!isRateRight}
            onChange={({ target }) => setRate(target.value)}
          />
          {total !== undefined && isRateRight && rate.trim() !== '' && (
            <span className="hint">
              About {formatSpan(Math.max(1000, (total / ratePerSecond) * 1000))} for {formatCount(total)}.
            </span>
          )}
        </div>
      )}
      {kind === 'discard' && (
        <p>
          <button type="button" className="button" onClick={onMilder}>
            Resolve with a note instead…
          </button>
        </p>
      )}
    </ActionDialog>
  )
}

const meaning = {
  redrive: 'Each is delivered again with the current route and template. Receivers see the same webhook-id.',
  resolve: 'They are settled as needing no delivery any more, with your note. They stay to be looked at.',
  discard:
    'They are given up. They stay to be looked at until retention removes them, and are never delivered.',
} as const

async function count(
  kind: BulkKind,
  base: object,
): Promise<Answer<'operations.preview'> & { readonly at: Date }> {
  const body = (kind === 'discard' ? { kind, ...base, reason: 'Counted.' } : { kind, ...base }) as Body
  const counted = await call('operations.preview', { body })
  return { ...counted, at: new Date() }
}

function Breakdown({
  breakdown,
}: {
  readonly breakdown: NonNullable<Answer<'operations.preview'>['breakdown']>
}) {
  const { critical, orderingKeys, oldestAt, lookedAt, isComplete } = breakdown
  return (
    <>
      <dt>Of these</dt>
      <dd>
        {critical > 0 ? <b>{formatCount(critical)} critical</b> : 'none critical'} ·{' '}
        {countOf(orderingKeys, 'ordering key')}
        {oldestAt !== null && (
          <>
            {' '}
            · oldest <Time at={oldestAt} as="ago" />
          </>
        )}
        {!isComplete && ` (of the first ${formatCount(lookedAt)})`}
      </dd>
    </>
  )
}

const sampleSize = 20

/** Renders some of them with the current routes. Nothing is sent. */
function Trial({ filter }: { readonly filter: LetterFilter }) {
  const trial = useQuery<Answer<'deadLetters.trial'>, ApiProblem>({
    queryKey: ['letter-trial', filter],
    queryFn: () => call('deadLetters.trial', { body: { filter, sample: sampleSize } }),
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  })
  if (trial.error !== null) return null
  return (
    <>
      <dt>Trial</dt>
      <dd>{trial.data === undefined ? 'rendering a sample…' : <TrialResult trial={trial.data} />}</dd>
    </>
  )
}

function TrialResult({ trial }: { readonly trial: Answer<'deadLetters.trial'> }) {
  const { tried, rendered, failures } = trial
  const isRight = rendered === tried
  return (
    <>
      <span className={`state ${isRight ? 'ok' : 'bad'}`}>
        <Icon name={isRight ? 'ok' : 'failed'} />
        {formatCount(rendered)} of {formatCount(tried)} render
      </span>{' '}
      with the current route. Nothing was sent.
      {failures.slice(0, 2).map(({ id, message }) => (
        <div key={id} className="quiet text">
          <code>{id}</code> {message}
        </div>
      ))}
    </>
  )
}

function EndpointNow({ name }: { readonly name: string }) {
  const { data } = useApi('endpoints.health', { params: { name } }, { topics: ['traffic'] })
  return (
    <>
      <dt>{name} now</dt>
      <dd>
        {data === undefined ? (
          '–'
        ) : (
          <>
            <EndpointState state={data.state} circuit={data.circuit.state} /> · {formatCount(data.inFlight)}{' '}
            in flight · {formatCount(data.pending)} waiting
          </>
        )}
      </dd>
    </>
  )
}
