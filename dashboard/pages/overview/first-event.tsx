import { Link } from '@tanstack/react-router'
import { basePath, session } from '../../api/session.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'

// `holdfast dev` keeps its key in a file; elsewhere everybody has one of their own.
const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname)
const key = isLocal ? '$(cat .holdfast/admin-key)' : '$HOLDFAST_API_KEY'

const curl = `curl ${location.origin}${basePath}v1/events \\
  -H "Authorization: Bearer ${key}" \\
  -H 'Content-Type: application/json' \\
  -d '{"type":"hello.world","payload":{"hello":"world"}}'`

/** The first screen of a new install: the next step as something to copy. */
export function FirstEvent({ endpoints }: { readonly endpoints: readonly string[] }) {
  return (
    <section className="card" aria-labelledby="first-event">
      <header>
        <Icon name="event" />
        <h2 id="first-event">Publish your first event</h2>
      </header>
      <div className="body grid gap-3">
        <p className="quiet">
          {endpoints.includes('inbox') ? (
            <>
              The endpoint{' '}
              <Link to="/endpoints/$name" params={{ name: 'inbox' }}>
                inbox
              </Link>{' '}
              takes every event. Paste this into a terminal, in the folder where Holdfast runs:
            </>
          ) : (
            'No endpoint is there to take it yet: it is kept as unrouted. Paste this into a terminal:'
          )}
        </p>
        <CommandBlock>{curl}</CommandBlock>
        <div className="flex flex-wrap gap-2 items-center">
          <CopyButton text={curl} />
          {!session.isDemoOffered && (
            <span className="hint">
              <code>npm start -- --demo</code> adds five endpoints, two jobs and live traffic.
            </span>
          )}
        </div>
      </div>
    </section>
  )
}
