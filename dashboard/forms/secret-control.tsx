import { useState } from 'react'
import { Time } from '../parts/time.tsx'
import type { FieldControlProps } from './field-control.tsx'

/** Write-only: what is stored is never shown, and stays until it is replaced. An address is shown while nothing in it is hidden. */
export function SecretControl({
  id,
  field,
  raw,
  isStored,
  setAt,
  problem,
  isReadOnly,
  onChange,
}: FieldControlProps & { readonly id: string }) {
  const [isReplacing, setIsReplacing] = useState(!isStored)
  if (isStored && !isReplacing && raw === undefined) {
    return (
      <span className="flex items-center gap-2 min-h-7">
        <span id={id} className="quiet">
          Set
          {setAt !== undefined && (
            <>
              {' '}
              <Time at={setAt} />
            </>
          )}
        </span>
        {!isReadOnly && (
          <button
            type="button"
            className="button"
            onClick={() => {
              setIsReplacing(true)
              onChange('')
            }}
          >
            Replace
          </button>
        )}
      </span>
    )
  }
  const isAddress = field.path === 'config.url'
  return (
    <span className="flex items-center gap-2">
      <input
        id={id}
        className={`input${isAddress ? ' mono' : ''}`}
        type={isAddress ? 'url' : 'password'}
        value={typeof raw === 'string' ? raw : ''}
        readOnly={isReadOnly}
        autoComplete={isAddress ? 'off' : 'new-password'}
        spellCheck={false}
        aria-describedby={`${id}-hint`}
        aria-invalid={problem !== null}
        onChange={({ target }) => onChange(target.value)}
      />
      {isStored && (
        <button
          type="button"
          className="button ghost"
          onClick={() => {
            setIsReplacing(false)
            onChange(undefined)
          }}
        >
          Keep
        </button>
      )}
    </span>
  )
}
