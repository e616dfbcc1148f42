import { useEffect } from 'react'
import { useAction } from '../../api/use-action.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Modal } from '../../parts/modal.tsx'
import { Note } from '../../parts/note.tsx'
import { formatDuration } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { type Message, MessageText } from '../attempts/message-text.tsx'

/** Sends one signed test event and shows what the receiver did, in plain words. */
export function TestDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const action = useAction('endpoints.test', {
    said: ({ ok }) => (ok ? `${name} took the test.` : `${name} did not take the test.`),
  })
  const { mutate, data, error, isPending, isIdle } = action
  useEffect(() => {
    mutate({ params: { name }, body: {} })
  }, [mutate, name])
  return (
    <Modal
      title={`Test of ${name}`}
      isWide
      onClose={onClose}
      footer={
        <>
          <button
            type="button"
            className="button"
            disabled={isPending}
            onClick={() => mutate({ params: { name }, body: {} })}
          >
            {isPending ? 'Sending…' : 'Send again'}
          </button>
          <button type="button" className="button primary" onClick={onClose}>
            Close
          </button>
        </>
      }
    >
      {(isPending || isIdle) && (
        <p className="quiet" role="status">
          Sent one signed test event; waiting for the answer…
        </p>
      )}
      {error !== null && <ProblemNote problem={error} />}
      {data !== undefined && !isPending && (
        <>
          <Note
            tone={data.ok ? 'ok' : 'bad'}
            role="status"
            lead={`${data.ok ? 'A delivery would have succeeded' : 'A delivery would have failed'}${data.status === null ? '' : `: ${data.status}`}, in ${formatDuration(data.durationMs)}`}
          >
            {data.explanation}
          </Note>
          <p className="hint">Nothing was stored, and the circuit did not hear of it.</p>
          {data.request !== null && (
            <div className="field">
              <h3>Request, as sent</h3>
              <Recorded value={data.request} label="Request" />
            </div>
          )}
          {data.response !== null && (
            <div className="field">
              <h3>Answer</h3>
              <Recorded value={data.response} label="Answer" />
            </div>
          )}
        </>
      )}
    </Modal>
  )
}

/** What other transports than HTTP record has a form of its own. */
function Recorded({ value, label }: { readonly value: object; readonly label: string }) {
  const message: Message = value
  if (message.headers === undefined || (message.url ?? message.status) === undefined)
    return <JsonView value={value} label={label} />
  const first =
    message.status === undefined ? `${message.method ?? ''} ${message.url ?? ''}` : `HTTP ${message.status}`
  return <MessageText message={message} label={label} first={first} />
}
