import { Icon } from '../parts/icon.tsx'
import type { HeaderRow } from './field.ts'

/** Headers of a request, one a row; a value that is stored stays until it is replaced. */
export function HeadersControl({
  rows,
  isReadOnly,
  onChange,
}: {
  readonly rows: readonly HeaderRow[]
  readonly isReadOnly: boolean
  readonly onChange: (rows: readonly HeaderRow[]) => void
}) {
  const set = (place: number, change: Partial<HeaderRow>): void =>
    onChange(rows.map((row, at) => (at === place ? { ...row, ...change } : row)))
  return (
    <div className="grid gap-2" role="group" aria-label="Headers">
      {rows.map((row, place) => (
        // oxlint-disable-next-line react/no-array-index-key -- its name is being typed
        <div key={place} className="header-row">
          <input
            className="input mono"
            aria-label={`Name of header ${place + 1}`}
            value={row.name}
            readOnly={isReadOnly || row.value === null}
            spellCheck={false}
            onChange={({ target }) => set(place, { name: target.value })}
          />
          {row.value === null ? (
            <span className="flex items-center gap-2">
              <span className="quiet">Set</span>
              {!isReadOnly && (
                <button type="button" className="button" onClick={() => set(place, { value: '' })}>
                  Replace
                </button>
              )}
            </span>
          ) : (
            <input
              className="input mono"
              aria-label={`Value of ${row.name === '' ? `header ${place + 1}` : row.name}`}
              value={row.value}
              readOnly={isReadOnly}
              spellCheck={false}
              onChange={({ target }) => set(place, { value: target.value })}
            />
          )}
          <label className="check" title="Anybody who may look at endpoints sees the value.">
            <input
              type="checkbox"
              checked={!row.isPlain}
              disabled={isReadOnly || row.value === null}
              onChange={({ target }) => set(place, { isPlain: !target.checked })}
            />
            Secret
          </label>
          {!isReadOnly && (
            <button
              type="button"
              className="button ghost square"
              aria-label={`Remove ${row.name === '' ? `header ${place + 1}` : row.name}`}
              onClick={() => onChange(rows.filter((_, at) => at !== place))}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
      ))}
      {!isReadOnly && (
        <span>
          <button
            type="button"
            className="button"
            onClick={() => onChange([...rows, { name: '', value: '', isPlain: false }])}
          >
            Add a header
          </button>
        </span>
      )}
    </div>
  )
}
