import { useId } from 'react'
import { usePreferences } from '../frame/preferences.ts'
import { fromField, toField } from './time-field.ts'

/** A filter as a moment, in the zone that the frame shows. */
export function TimeFilter({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}) {
  const id = useId()
  const { zone } = usePreferences()
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} <span className="hint">{zone === 'utc' ? 'UTC' : ''}</span>
      </label>
      <input
        id={id}
        className="input"
        type="datetime-local"
        step={1}
        value={value === undefined ? '' : toField(new Date(value), zone)}
        onChange={({ target }) => onChange(fromField(target.value, zone)?.toISOString())}
      />
    </div>
  )
}
