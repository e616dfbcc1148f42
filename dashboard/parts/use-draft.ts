import { useEffect, useState } from 'react'

const prefix = 'holdfast-draft:'

/**
 * The text of a form, kept for this tab until it is saved: signing in again, or a reload, brings it back. Never for secrets: the next user of this
 * browser can read what is stored.
 *
 * @example const [text, setText, dropDraft] = useDraft(`route:${name}`, saved)
 */
export function useDraft<Value>(
  key: string,
  saved: Value,
): readonly [value: Value, set: (value: Value) => void, drop: () => void] {
  const [draft, setDraft] = useState<{ readonly key: string; readonly value: Value } | null>(() => {
    const value = read(key)
    return value === undefined ? null : { key, value: value as Value }
  })
  const current = draft?.key === key ? draft.value : saved
  useEffect(() => {
    try {
      if (draft === null || draft.key !== key || isSame(draft.value, saved)) {
        if (draft !== null) sessionStorage.removeItem(prefix + key)
      } else sessionStorage.setItem(prefix + key, JSON.stringify(draft.value))
    } catch {
      // A private window may refuse, or it is full; the form then lasts as long as the page.
    }
  }, [draft, key, saved])
  return [
    current,
    (value) => setDraft({ key, value }),
    () => {
      sessionStorage.removeItem(prefix + key)
      setDraft(null)
    },
  ]
}

function isSame(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) === JSON.stringify(second)
}

function read(key: string): unknown {
  try {
    const text = sessionStorage.getItem(prefix + key)
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
