import { type ReactNode, useEffect, useRef } from 'react'

/** Stands over a form with changes that aren't saved; `Ctrl S` or `⌘S` does the same, wherever the focus is. */
export function SaveBar({
  children,
  isRestored = false,
  verb = 'Review changes…',
  isReady = true,
  onSave,
  onDiscard,
}: {
  /** What is not saved yet: `3 changes`. */
  readonly children: ReactNode
  readonly isRestored?: boolean
  readonly verb?: string
  readonly isReady?: boolean
  readonly onSave: () => void
  /** Left out: there is nothing to go back to. */
  readonly onDiscard?: (() => void) | undefined
}) {
  useSaveKey(() => {
    if (isReady) onSave()
  })
  return (
    <div className="selection" role="group" aria-label="Unsaved changes">
      <b>{children}</b>
      {isRestored && <span className="quiet">kept from before</span>}
      <span className="grow" />
      {onDiscard !== undefined && (
        <button type="button" className="button ghost" onClick={onDiscard}>
          Discard changes
        </button>
      )}
      <button type="button" className="button primary" disabled={!isReady} onClick={onSave}>
        {verb} <span className="key">Ctrl S</span>
      </button>
    </div>
  )
}

function useSaveKey(save: () => void): void {
  const latest = useRef(save)
  latest.current = save
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 's') return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
