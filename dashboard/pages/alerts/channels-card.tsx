import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import type { Channel, ChannelChoice } from './channel-dialog.tsx'

const ChannelDialog = lazy(async () => ({ default: (await import('./channel-dialog.tsx')).ChannelDialog }))

/** Where alerts are sent. */
export function ChannelsCard() {
  const channels = useApi('alerts.listChannels', {}, { topics: ['changes'] })
  const [choice, setChoice] = useState<ChannelChoice | null>(null)
  const test = useAction('alerts.testChannel', { said: () => 'Sent a test notice.' })
  return (
    <section className="card">
      <header>
        <h2>Channels</h2>
        <span className="hint">where alerts are sent</span>
        {may('configure') && (
          <button type="button" className="button" onClick={() => setChoice({ dialog: 'new' })}>
            New channel…
          </button>
        )}
      </header>
      {test.error !== null && <ProblemNote problem={test.error} />}
      {test.data !== undefined && (
        <Note
          tone="accent"
          role="status"
          lead={`Sent a test notice to ${test.variables?.params.name ?? 'it'}.`}
        >
          {test.data.messageId === null ? (
            'It is in the log of the node.'
          ) : (
            <Link to="/events/$id" params={{ id: test.data.messageId }}>
              Whether it arrived
            </Link>
          )}
        </Note>
      )}
      <Loaded of={channels}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="body quiet">None: alerts are shown here only.</p>
          ) : (
            <ul>
              {data.map((channel) => (
                <ChannelRow
                  key={channel.name}
                  channel={channel}
                  isTesting={test.isPending}
                  onTest={() => test.mutate({ params: { name: channel.name } })}
                  onChoose={(dialog) => setChoice({ dialog, channel })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <Suspense>
        {choice !== null && <ChannelDialog choice={choice} onClose={() => setChoice(null)} />}
      </Suspense>
    </section>
  )
}

function ChannelRow({
  channel: { name, kind, endpoint, enabled },
  isTesting,
  onTest,
  onChoose,
}: {
  readonly channel: Channel
  readonly isTesting: boolean
  readonly onTest: () => void
  readonly onChoose: (dialog: 'switch' | 'delete') => void
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 border-b border-line last:border-0">
      <b className="text">
        {endpoint === null || !may('configure') ? (
          name
        ) : (
          <Link to="/endpoints/$name" params={{ name: endpoint }} search={{ tab: 'settings' }}>
            {name}
          </Link>
        )}
      </b>
      <span className="tag">{kind}</span>
      <span>{enabled ? 'on' : 'off'}</span>
      <span className="grow" />
      {may('operate') && (
        <button type="button" className="button ghost" disabled={isTesting} onClick={onTest}>
          Test<span className="vh"> {name}</span>
        </button>
      )}
      {may('configure') && (
        <>
          <RowButton text={enabled ? 'Disable…' : 'Enable…'} of={name} onPress={() => onChoose('switch')} />
          <RowButton text="Delete…" of={name} onPress={() => onChoose('delete')} />
        </>
      )}
    </li>
  )
}
