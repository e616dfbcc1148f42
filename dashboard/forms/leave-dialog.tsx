import { Modal } from '../parts/modal.tsx'

export function LeaveDialog({
  onDiscard,
  onKeep,
  onStay,
}: {
  readonly onDiscard: () => void
  readonly onKeep: () => void
  readonly onStay: () => void
}) {
  return (
    <Modal
      title="Leave without saving?"
      onClose={onStay}
      footer={
        <>
          <button type="button" className="button danger" onClick={onDiscard}>
            Discard changes
          </button>
          <span className="grow" />
          <button type="button" className="button" onClick={onKeep}>
            Leave, keep the draft
          </button>
          <button type="button" className="button primary" onClick={onStay}>
            Keep editing
          </button>
        </>
      }
    >
      <p className="quiet">
        What you changed on this page isn't saved. A draft waits here until you close this tab; secrets that
        you typed are not kept.
      </p>
    </Modal>
  )
}
