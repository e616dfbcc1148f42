import { type ReactNode, useId, useState } from 'react'
import { Icon } from './icon.tsx'

/** The filters of a list. On a phone a button unfolds them, so that the list itself is on the first screen. */
export function FilterFold({
  values,
  children,
}: {
  /** What they are set to; undefined: not set. */
  readonly values: readonly (string | undefined)[]
  readonly children: ReactNode
}) {
  const id = useId()
  const [isOpen, setIsOpen] = useState(false)
  const set = values.filter((value) => value !== undefined).length
  return (
    <>
      <button
        type="button"
        className="button filter-button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="filter" />
        {set === 0 ? 'Filter' : `Filter, ${set} set`}
      </button>
      <div id={id} className={isOpen ? 'filter-fold open' : 'filter-fold'}>
        {children}
      </div>
    </>
  )
}
