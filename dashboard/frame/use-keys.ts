import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { togglePaused } from '../live/live-mode.ts'
import { neighbourOf } from '../parts/last-list.ts'
import { preferences } from './preferences.ts'
import { allSections } from './sections.ts'

export interface KeyActions {
  readonly onFind: () => void
  readonly onHelp: () => void
  readonly onGo: (path: string) => void
  /** Where somebody is. */
  readonly path: string
}

const sequenceMs = 1500

/** A page marks what a key does: `<button data-key="r">` is clicked, `<input data-key="/">` gets the focus. */
function pressMarked(key: string): boolean {
  for (const element of document.querySelectorAll<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)) {
    if (element.matches(':disabled') || element.offsetParent === null) continue
    if (element.matches('input, select, textarea')) element.focus()
    else element.click()
    return true
  }
  return false
}

/** Another filter beside those that are set. */
function focusEmptyFilter(): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>('input[data-key="/"]')].filter(
    (field) => field.offsetParent !== null,
  )
  const field = fields.find(({ value }) => value === '') ?? fields[0]
  field?.focus()
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox]), select, textarea'))
  )
}

/** Single keys never act while a field has the focus or a dialog is open, and none changes data without a dialog. */
export function useKeys(actions: KeyActions): void {
  const queryClient = useQueryClient()
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    let goAtMs = Number.NEGATIVE_INFINITY
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        latest.current.onFind()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || !preferences().hasSingleKeys) return
      if (isTyping(event.target) || document.querySelector('[role=dialog], [role=alertdialog]') !== null)
        return
      const wasGo = performance.now() - goAtMs < sequenceMs
      goAtMs = Number.NEGATIVE_INFINITY
      const section = wasGo ? allSections.find(({ key }) => key === event.key) : undefined
      if (section !== undefined) latest.current.onGo(section.path)
      else if (event.key === 'g') goAtMs = performance.now()
      else if (event.key === '?') latest.current.onHelp()
      else if (event.key === '.') togglePaused()
      else if (event.key === 'u') void queryClient.invalidateQueries({ type: 'active' })
      else if (event.key === 'f') focusEmptyFilter()
      else if (event.key === '[' || event.key === ']') {
        const path = neighbourOf(latest.current.path, event.key === ']' ? 1 : -1)
        if (path === null) return
        latest.current.onGo(path)
      } else if (!pressMarked(event.key)) return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [queryClient])
}
