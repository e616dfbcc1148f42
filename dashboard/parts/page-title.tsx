import { type ReactNode, useEffect } from 'react'
import { session } from '../api/session.ts'
import { useOutage } from '../live/outage.ts'

/** The heading of a page, and what the tab says: the thing first, where it is after it. */
export function PageTitle({
  title,
  section,
  hint,
  states,
  actions,
  count = 0,
}: {
  readonly title: string
  /** The list that it belongs to. */
  readonly section?: string
  readonly hint?: ReactNode
  readonly states?: ReactNode
  readonly actions?: ReactNode
  /** How many things need action. */
  readonly count?: number
}) {
  const isAway = useOutage() !== null
  useEffect(() => {
    const parts = [title, section, session.environment, 'Holdfast'].filter(
      (part) => part != null && part !== '',
    )
    document.title = `${count > 0 ? `(${count}) ` : ''}${parts.join(' · ')}`
  }, [title, section, count])
  return (
    <div className="title">
      <h1 className="text" dir="auto">
        {title}
      </h1>
      {states}
      {hint !== undefined && <span className="quiet">{hint}</span>}
      {actions !== undefined && (
        // What writes stands here: a fieldset disables all of it.
        <fieldset className="actions" disabled={isAway}>
          {actions}
        </fieldset>
      )}
    </div>
  )
}
