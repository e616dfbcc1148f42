import { type ReactNode, useId, useState } from 'react'
import type { ApiProblem } from '../api/api-problem.ts'
import { useOutage } from '../live/outage.ts'
import { Modal } from './modal.tsx'
import { ProblemNote } from './problem-note.tsx'

interface Running {
  readonly isPending: boolean
  readonly error: ApiProblem | null
}

/**
 * Asks before something is sent, stopped or deleted. What destroys wants the count or the name typed in; a reason appears verbatim in the audit log.
 */
export function ActionDialog({
  title,
  children,
  verb,
  // The first word of `Reset circuit` is what goes on.
  pendingVerb = `${verb.split(' ')[0]?.replace(/e$/, '')}ing…`,
  action,
  onConfirm,
  onClose,
  reason,
  typed,
  isDanger = false,
  isReady = true,
  isWide = false,
}: {
  readonly title: string
  readonly children?: ReactNode
  readonly verb: string
  /** While the server works: `Pausing…` */
  readonly pendingVerb?: string | undefined
  readonly action: Running
  readonly onConfirm: (reason: string | undefined) => void
  readonly onClose: () => void
  /** `required` for what destroys. Left out: the call takes none. */
  readonly reason?: 'optional' | 'required'
  /** What has to be typed in before the button works. */
  readonly typed?: string
  readonly isDanger?: boolean
  readonly isReady?: boolean
  readonly isWide?: boolean
}) {
  const id = useId()
  const [reasonText, setReasonText] = useState('')
  const [typedText, setTypedText] = useState('')
  const isTyped = typed === undefined || typedText.trim() === typed
  const hasReason = reason !== 'required' || reasonText.trim() !== ''
  const isAway = useOutage() !== null
  const canConfirm = isTyped && hasReason && isReady && !action.isPending && !isAway
  const confirm = (): void => {
    if (canConfirm) onConfirm(reasonText.trim() === '' ? undefined : reasonText.trim())
  }
  return (
    <Modal
      title={title}
      isWide={isWide}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="button ghost" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            form={id}
            className={`button ${isDanger ? 'danger solid' : 'primary'}`}
            disabled={!canConfirm}
          >
            {action.isPending ? pendingVerb : verb}
          </button>
        </>
      }
    >
      <form
        id={id}
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          confirm()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) confirm()
        }}
      >
        {children}
        {reason !== undefined && (
          <div className="field">
            <label htmlFor={`${id}-reason`}>
              Reason, for the audit log{reason === 'optional' ? ' (optional)' : ''}
            </label>
            <input
              id={`${id}-reason`}
              className="input"
              maxLength={1000}
              autoComplete="off"
              value={reasonText}
              onChange={({ target }) => setReasonText(target.value)}
            />
          </div>
        )}
        {typed !== undefined && (
          <div className="field">
            <label htmlFor={`${id}-typed`}>
              Type <b>{typed}</b> to confirm
            </label>
            <input
              id={`${id}-typed`}
              className="input mono"
              autoComplete="off"
              spellCheck={false}
              value={typedText}
              onChange={({ target }) => setTypedText(target.value)}
            />
          </div>
        )}
        {isAway && (
          <p className="problem" role="status">
            Not now: the database can't be reached. What you have typed stays.
          </p>
        )}
        {action.error !== null && <ProblemNote problem={action.error} />}
      </form>
    </Modal>
  )
}
