import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Note } from '../../parts/note.tsx'
import { TestDialog } from './test-dialog.tsx'

/** What comes after creating one: its secret, which is shown once, and a test. */
export function CreatedEndpoint({ created }: { readonly created: Answer<'endpoints.create'> }) {
  const [isTesting, setIsTesting] = useState(false)
  const { name, signingSecret, eventTypes } = created
  return (
    <section className="card max-w-[720px]" aria-label="Created">
      <div className="body grid gap-3">
        <Note tone="ok" role="status" lead={`${name} is created.`}>
          {eventTypes.length === 0
            ? 'It gets no events yet: create a route that leads to it.'
            : `It gets ${eventTypes.join(', ')}, from now on.`}
        </Note>
        {signingSecret !== undefined && (
          <>
            <Note tone="warn" lead="Its signing secret is shown this once.">
              Receivers verify signatures with it.
            </Note>
            <CommandBlock label="Signing secret">{signingSecret}</CommandBlock>
            <CopyButton text={signingSecret} />
          </>
        )}
      </div>
      <footer>
        <button type="button" className="button primary" onClick={() => setIsTesting(true)}>
          Send a test
        </button>
        {eventTypes.length === 0 && (
          <Link to="/routes/+new" search={{ endpoint: name }} className="button">
            Create a route
          </Link>
        )}
        <Link to="/endpoints/$name" params={{ name }} className="button">
          Open endpoint
        </Link>
      </footer>
      {isTesting && <TestDialog name={name} onClose={() => setIsTesting(false)} />}
    </section>
  )
}
