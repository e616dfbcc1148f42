import { useId } from 'react'
import { Icon } from '../parts/icon.tsx'
import { formatSpan } from '../parts/numbers.ts'
import type { Field, HeaderRow, Raw } from './field.ts'
import { choiceWords, labelOf, unitOf } from './field-words.ts'
import { HeadersControl } from './headers-control.tsx'
import { SecretControl } from './secret-control.tsx'

export interface FieldControlProps {
  readonly field: Field
  readonly raw: Raw
  /** Whether a secret of this field is stored. */
  readonly isStored: boolean
  /** When it was set, where that is known. */
  readonly setAt?: string | undefined
  readonly problem: string | null
  readonly isReadOnly: boolean
  readonly onChange: (raw: Raw) => void
  readonly onLeave: () => void
  /** Instead of what the API says of it. */
  readonly hint?: string | undefined
}

/** A control for a field: its label, its unit, what it means or what is wrong with it. */
export function FieldControl(props: FieldControlProps) {
  const id = useId()
  const { field, raw, problem, isReadOnly, onChange, onLeave } = props
  if (field.kind === 'flag' || field.kind === 'part') {
    return (
      <div className={`field${field.kind === 'part' ? ' whole' : ''}`}>
        <label className="check">
          <input
            type="checkbox"
            checked={raw === true}
            disabled={isReadOnly}
            aria-describedby={`${id}-hint`}
            onChange={({ target }) => onChange(target.checked)}
          />
          {labelOf(field)}
        </label>
        <span id={`${id}-hint`} className="hint">
          {plain(field.description)}
        </span>
      </div>
    )
  }
  const isWide = field.kind === 'map' || field.kind === 'headers' || isLong(field)
  return (
    <div
      className={`field${isWide ? ' whole' : ''}`}
      // A group is left when the focus goes elsewhere.
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) onLeave()
      }}
    >
      {field.kind === 'headers' ? (
        <span className="label">{labelOf(field)}</span>
      ) : (
        <label htmlFor={id}>{labelOf(field)}</label>
      )}
      {field.kind === 'headers' ? (
        <HeadersControl rows={raw as readonly HeaderRow[]} isReadOnly={isReadOnly} onChange={onChange} />
      ) : field.isSecret === true ? (
        <SecretControl id={id} {...props} />
      ) : (
        <PlainControl id={id} {...props} />
      )}
      <span id={`${id}-hint`} className={problem === null ? 'hint' : 'problem'} role="status">
        {problem === null ? (
          <Hint {...props} />
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

function PlainControl({ id, field, raw, problem, isReadOnly, onChange }: FieldControlProps & { id: string }) {
  const described = { 'aria-describedby': `${id}-hint`, 'aria-invalid': problem !== null }
  const text = typeof raw === 'string' ? raw : ''
  if (field.kind === 'choice') {
    const { choices = [] } = field
    return (
      <select
        id={id}
        className="input"
        value={text}
        disabled={isReadOnly}
        {...described}
        onChange={({ target }) => onChange(target.value)}
      >
        {!choices.includes(text) && <option value={text}>{text === '' ? 'default' : text}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choiceWords(choice)}
          </option>
        ))}
      </select>
    )
  }
  if (field.kind === 'map' || isLong(field)) {
    return (
      <textarea
        id={id}
        className="input mono"
        value={text}
        readOnly={isReadOnly}
        spellCheck={false}
        {...described}
        onChange={({ target }) => onChange(target.value)}
      />
    )
  }
  const unit = unitOf(field)
  const isNumber = field.kind === 'integer' || field.kind === 'number'
  return (
    <span className="with-unit">
      <input
        id={id}
        className={`input${field.kind === 'list' ? ' mono' : ''}`}
        value={text}
        readOnly={isReadOnly}
        autoComplete="off"
        spellCheck={false}
        {...(isNumber && { inputMode: 'decimal' as const })}
        {...(field.isNullable === true && isNumber && { placeholder: 'none' })}
        {...described}
        onChange={({ target }) => onChange(target.value)}
      />
      {unit !== '' && <span className="unit">{unit}</span>}
    </span>
  )
}

function Hint({ field, raw, hint }: FieldControlProps) {
  const ms = unitOf(field) === 'ms' ? Number(raw) : Number.NaN
  const span = ms >= 1000 ? `${formatSpan(ms)}. ` : ''
  return (
    <>
      {span}
      {plain(hint ?? field.description)}
    </>
  )
}

/** Certificates. */
function isLong({ path }: Field): boolean {
  return path === 'config.tls.cert' || path === 'config.tls.ca' || path === 'config.tls.key'
}

/** Descriptions are Markdown with code in it. */
function plain(text: string): string {
  return text
    .replaceAll('`', '')
    .replace(', in milliseconds', '')
    .replace(/[;,] null: /, '. Empty: ')
}
