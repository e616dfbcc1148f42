import type { ReactNode } from 'react'
import type { Answer, Input } from '../api/call.ts'
import type { CallName } from '../api/calls.ts'
import { useAction } from '../api/use-action.ts'
import { ActionDialog } from './action-dialog.tsx'

/** A reason as calls take it: left out where somebody gave none. */
export function because(reason: string | undefined): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

export interface CallDialogProps<Name extends CallName> {
  readonly call: Name
  readonly input: (reason: string | undefined) => Input<Name>
  readonly said: (answer: Answer<Name>) => string
  readonly undo?: () => () => Promise<unknown>
  /** What happens then, in a sentence or two. */
  readonly means?: ReactNode
  readonly onClose: () => void
  readonly onDone?: (answer: Answer<Name>) => void
  readonly children?: ReactNode
  readonly title: string
  readonly verb: string
  readonly pendingVerb?: string
  readonly reason?: 'optional' | 'required'
  readonly typed?: string
  readonly isDanger?: boolean
  readonly isReady?: boolean
  readonly isWide?: boolean
}

/**
 * Asks, makes one call and closes: what will happen, why, and what was done.
 *
 * @example
 * <CallDialog call="routes.delete" input={(reason) => ({ params: { name }, query: because(reason) })} title={`Delete ${name}?`} verb="Delete" … />
 */
export function CallDialog<Name extends CallName>({
  call,
  input,
  said,
  undo,
  means,
  onClose,
  onDone = onClose,
  children,
  ...dialog
}: CallDialogProps<Name>) {
  const action = useAction(call, { said, onDone, ...(undo !== undefined && { undo }) })
  return (
    <ActionDialog
      {...dialog}
      action={action}
      onClose={onClose}
      onConfirm={(reason) => action.mutate(input(reason))}
    >
      {means !== undefined && <p className="quiet">{means}</p>}
      {children}
    </ActionDialog>
  )
}
