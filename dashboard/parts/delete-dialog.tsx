import type { CallName } from '../api/calls.ts'
import { CallDialog, type CallDialogProps } from './call-dialog.tsx'

interface DeleteDialogProps<Name extends CallName>
  extends Omit<CallDialogProps<Name>, 'title' | 'verb' | 'isDanger' | 'typed' | 'said'> {
  readonly name: string
  /** Said before the name: `the rule`. */
  readonly what?: string
}

/** Deletes something for good, once its name was typed. */
export function DeleteDialog<Name extends CallName>({ name, what, ...dialog }: DeleteDialogProps<Name>) {
  return (
    <CallDialog
      {...dialog}
      title={`Delete ${what === undefined ? name : `${what} ${name}`}?`}
      verb="Delete"
      isDanger
      typed={name}
      said={() => `Deleted ${name}.`}
    />
  )
}
