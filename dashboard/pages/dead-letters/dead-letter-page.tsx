import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { AttemptList } from '../attempts/attempt-list.tsx'
import { BrokerHistory } from './broker-history.tsx'
import { failureCodes, failureWords } from './error-words.ts'
import { LetterButtons } from './letter-buttons.tsx'
import type { BulkKind } from './letters-view.tsx'

const LetterDialog = lazy(async () => ({ default: (await import('./letter-dialog.tsx')).LetterDialog }))

type Letter = Answer<'deadLetters.get'>

/** What died, of what, and what can be done about it? */
export function DeadLetterPage() {
  const { id } = useParams({ from: '/dead-letters/$id' })
  const letter = useApi('deadLetters.get', { params: { id } }, { topics: ['letters', 'changes'] })
  const { data } = letter
  return (
    <>
      <PageTitle
        title={
          data === undefined
            ? id
            : `${data.eventType ?? 'Message'} for ${data.endpoint ?? data.job ?? 'nobody'}`
        }
        section="Dead letters"
        states={data !== undefined && <State kind="letter" value={data.state} isPill />}
        actions={data?.state === 'open' && <Actions letter={data} />}
      />
      <Loaded of={letter}>
        {(whole) => (
          <>
            <Ids letter={whole} />
            <Note tone={whole.state === 'open' ? 'bad' : 'neutral'} icon="letter" lead={failureWords(whole)}>
              {failureCodes(whole)}
              {whole.blocksKey && ' · blocks its ordering key until it is settled'}
            </Note>
            {whole.settledAt !== null && (
              <Note tone="accent" lead={`Settled as ${whole.state} by ${whole.settledBy ?? 'Holdfast'}`}>
                <Time at={whole.settledAt} />
                {whole.note !== null && `: “${whole.note}”`}
                {whole.redrivenDeliveryId !== null && (
                  <>
                    {' '}
                    Delivered again as{' '}
                    <Link to="/deliveries/$id" params={{ id: whole.redrivenDeliveryId }} className="mono">
                      {whole.redrivenDeliveryId}
                    </Link>
                  </>
                )}
              </Note>
            )}
            {whole.brokerHistory !== undefined && <BrokerHistory history={whole.brokerHistory} />}
            <AttemptList attempts={whole.attempts} />
            <section className="card">
              <header>
                <h2>Payload</h2>
                <span className="hint">as published</span>
              </header>
              <div className="body">
                {whole.message === null ? (
                  <p className="quiet">Its message is no longer stored.</p>
                ) : (
                  <JsonView
                    value={whole.message.payload}
                    label="Payload"
                    fileName={`${whole.messageId}.json`}
                  />
                )}
              </div>
            </section>
          </>
        )}
      </Loaded>
    </>
  )
}

function Ids({ letter }: { readonly letter: Letter }) {
  return (
    <div className="subtitle">
      <code>{letter.id}</code>
      <span>
        event{' '}
        <Link to="/events/$id" params={{ id: letter.messageId }} className="mono">
          {letter.messageId}
        </Link>
      </span>
      {letter.endpoint !== null && (
        <Link to="/endpoints/$name" params={{ name: letter.endpoint }}>
          {letter.endpoint}
        </Link>
      )}
      {letter.route !== null && (
        <span>
          route{' '}
          <Link to="/routes/$name" params={{ name: letter.route }}>
            {letter.route}
          </Link>
        </span>
      )}
      <Link to="/dead-letters" search={{ fingerprint: letter.fingerprint }}>
        All with this error
      </Link>
      <span>
        dead since <Time at={letter.createdAt} />
      </span>
    </div>
  )
}

function Actions({ letter }: { readonly letter: Letter }) {
  const [dialog, setDialog] = useState<BulkKind | null>(null)
  if (!may('operate')) return null
  return (
    <>
      <LetterButtons onChoose={setDialog} />
      <Suspense>
        {dialog !== null && <LetterDialog kind={dialog} id={letter.id} onClose={() => setDialog(null)} />}
      </Suspense>
    </>
  )
}
