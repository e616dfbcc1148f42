import type { ReactNode } from 'react'
import type { ApiProblem } from '../api/api-problem.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { countOf } from '../parts/numbers.ts'
import { visibleText } from '../parts/visible-text.ts'
import type { Change } from './draft.ts'

/** The diff before a save. */
export function ReviewDialog({
  name,
  changes,
  action,
  children,
  onConfirm,
  onClose,
}: {
  readonly name: string
  readonly changes: readonly Change[]
  readonly action: { readonly isPending: boolean; readonly error: ApiProblem | null }
  /** What the change means. */
  readonly children?: ReactNode
  readonly onConfirm: (reason: string | undefined) => void
  readonly onClose: () => void
}) {
  const count = countOf(changes.length, 'change')
  return (
    <ActionDialog
      title={`Save ${count} to ${name}?`}
      verb={`Save ${count}`}
      pendingVerb="Saving…"
      action={action}
      reason="optional"
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <ChangeList changes={changes} />
      {children}
    </ActionDialog>
  )
}

/** From what to what, field by field; a mark as well as a colour says what goes and what comes. */
export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <pre className="code wrap" tabIndex={0} role="region" aria-label="Changes">
      {changes.map(({ path, before, after }) => (
        <span key={path}>
          <Path path={path} />
          <Lines mark="-" className="removed" text={before} />
          <Lines mark="+" className="added" text={after} />
        </span>
      ))}
    </pre>
  )
}

function Path({ path }: { readonly path: string }) {
  const place = path.lastIndexOf('.') + 1
  return (
    <span className="block">
      <span className="punctuation">{path.slice(0, place)}</span>
      {path.slice(place)}
    </span>
  )
}

function Lines({
  mark,
  className,
  text,
}: {
  readonly mark: '-' | '+'
  readonly className: string
  readonly text: string
}) {
  return text.split('\n').map((line, place) => (
    // oxlint-disable-next-line react/no-array-index-key -- a line has no other name than its place
    <span key={place} className={className}>
      {mark} {visibleText(line)}
    </span>
  ))
}
