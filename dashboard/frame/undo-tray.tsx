import { lazy, Suspense, useEffect, useState } from 'react'
import { onUndoOffered } from '../parts/undo.ts'

const UndoToasts = lazy(async () => ({ default: (await import('./undo-toasts.tsx')).UndoToasts }))

/** Loads the toasts with the first offer to undo something. */
export function UndoTray() {
  const [isNeeded, setIsNeeded] = useState(false)
  useEffect(() => onUndoOffered(() => setIsNeeded(true)), [])
  return <Suspense>{isNeeded && <UndoToasts />}</Suspense>
}
