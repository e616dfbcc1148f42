import { useEffect, useId, useState } from 'react'

const patienceMs = 300

/** A filter as text; the address follows when somebody pauses typing. */
export function FilterField({
  label,
  value,
  onChange,
  placeholder,
  isMono = false,
  keyName,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly placeholder?: string
  readonly isMono?: boolean
  /** `/` goes to the first filter of a page. */
  readonly keyName?: string
}) {
  const id = useId()
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  useEffect(() => {
    const next = text.trim() === '' ? undefined : text.trim()
    if (next === value) return undefined
    const timer = setTimeout(() => onChange(next), patienceMs)
    return () => clearTimeout(timer)
  })
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={`input${isMono ? ' mono' : ''}`}
        type="search"
        autoComplete="off"
        spellCheck={false}
        value={text}
        data-key={keyName ?? '/'}
        {...(placeholder !== undefined && { placeholder })}
        onChange={({ target }) => setText(target.value)}
      />
    </div>
  )
}
