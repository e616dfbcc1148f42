import { useId } from 'react'
import { Icon } from './icon.tsx'

interface Labelled {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isReadOnly?: boolean
}

/** A line or several of text with a label, and what it means or what is wrong with it. */
export function TextField({
  label,
  value,
  onChange,
  isReadOnly = false,
  hint = '',
  problem,
  lines = 'one',
  isMono = false,
  isLabelHidden = false,
  suggestions,
  maxLength,
  placeholder,
  onLeave,
}: Labelled & {
  readonly hint?: string
  readonly problem?: string | undefined
  readonly lines?: 'one' | 'some' | 'many'
  readonly isMono?: boolean
  /** It stands beside the heading that says the same. */
  readonly isLabelHidden?: boolean
  readonly suggestions?: readonly string[]
  readonly maxLength?: number
  readonly placeholder?: string
  readonly onLeave?: () => void
}) {
  const id = useId()
  const control = {
    id,
    value,
    readOnly: isReadOnly,
    spellCheck: false,
    autoComplete: 'off',
    className: `input${isMono ? ' mono' : ''}${lines === 'many' ? ' min-h-72!' : ''}`,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-hint`,
    ...(maxLength !== undefined && { maxLength }),
    ...(placeholder !== undefined && { placeholder }),
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value),
  }
  return (
    <div className="field" {...(onLeave !== undefined && { onBlur: onLeave })}>
      <label htmlFor={id} className={isLabelHidden ? 'vh' : undefined}>
        {label}
      </label>
      {lines === 'one' ? (
        <input {...control} {...(suggestions !== undefined && { list: `${id}-list` })} />
      ) : (
        <textarea {...control} />
      )}
      {suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <span id={`${id}-hint`} className={problem === undefined ? 'hint' : 'problem'} role="status">
        {problem === undefined ? (
          hint
        ) : (
          <>
            <Icon name="failed" />
            {problem}
          </>
        )}
      </span>
    </div>
  )
}

/** One of a few, with a label. */
export function ChoiceField({
  label,
  value,
  onChange,
  isReadOnly = false,
  choices,
  hint,
}: Labelled & {
  readonly choices: readonly (readonly [value: string, words: string])[]
  readonly hint?: string
}) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        value={value}
        disabled={isReadOnly}
        onChange={({ target }) => onChange(target.value)}
      >
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
      {hint !== undefined && <span className="hint">{hint}</span>}
    </div>
  )
}
