import type { Field, Raw } from './field.ts'
import { FieldControl } from './field-control.tsx'
import type { FormState } from './use-form.ts'

export interface FieldGridState {
  readonly state: FormState
  readonly isReadOnly?: boolean | ((path: string) => boolean)
  readonly setAt?: (path: string) => string | undefined
  readonly hint?: (path: string) => string | undefined
  /** Instead of entering it as it is. */
  readonly onChange?: (path: string, raw: Raw) => void
}

/** The controls of these fields, those that mean nothing now left out. */
export function FieldGrid({
  fields,
  state,
  isReadOnly = false,
  setAt,
  hint,
  onChange = state.enter,
}: FieldGridState & { readonly fields: readonly Field[] }) {
  const { form, touched } = state
  return (
    <div className="form-grid">
      {fields
        .filter((field) => form.isShown(field))
        .map((field) => (
          <FieldControl
            key={field.path}
            field={field}
            raw={form.raw(field)}
            isStored={form.isStored(field)}
            setAt={setAt?.(field.path)}
            hint={hint?.(field.path)}
            problem={touched.has(field.path) ? form.problem(field) : null}
            isReadOnly={typeof isReadOnly === 'function' ? isReadOnly(field.path) : isReadOnly}
            onChange={(raw) => onChange(field.path, raw)}
            onLeave={() => state.leave(field.path)}
          />
        ))}
    </div>
  )
}
