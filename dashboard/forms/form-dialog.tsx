import type { ReactNode } from 'react'
import type { Answer, Input } from '../api/call.ts'
import type { CallName } from '../api/calls.ts'
import { CallDialog } from '../parts/call-dialog.tsx'
import type { Form } from './draft.ts'
import type { Field } from './field.ts'
import { FieldGrid } from './field-grid.tsx'
import { ChangeList } from './review-dialog.tsx'
import type { FormState } from './use-form.ts'

/** A short form in a dialog. What changes is shown below it before it is saved. */
export function FormDialog<Name extends CallName>({
  state,
  fields,
  input,
  isNew = false,
  hint,
  children,
  onDone,
  ...dialog
}: {
  readonly state: FormState
  readonly fields: readonly Field[]
  readonly input: (form: Form, reason: string | undefined) => Input<Name>
  /** It creates something: there is nothing to compare with. */
  readonly isNew?: boolean
  readonly hint?: (path: string) => string | undefined
  readonly call: Name
  readonly title: string
  readonly verb: string
  readonly pendingVerb?: string
  readonly said: (answer: Answer<Name>) => string
  readonly means?: ReactNode
  readonly reason?: 'optional' | 'required'
  readonly onClose: () => void
  readonly onDone?: (answer: Answer<Name>) => void
  readonly children?: ReactNode
}) {
  const { form } = state
  const { changes, problems } = form
  return (
    <CallDialog
      {...dialog}
      isWide
      isReady={changes.length > 0 && problems.size === 0}
      input={(reason) => input(form, reason)}
      onDone={(answer) => {
        state.reset()
        if (onDone === undefined) dialog.onClose()
        else onDone(answer)
      }}
    >
      <FieldGrid fields={fields} state={state} {...(hint !== undefined && { hint })} />
      {children}
      {!isNew && changes.length > 0 && <ChangeList changes={changes} />}
    </CallDialog>
  )
}
