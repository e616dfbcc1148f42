import { Modal } from '../parts/modal.tsx'

export function LeaveDialog({
  onLeave,
  onStay,
}: {
  readonly onLeave: () => void
  readonly onStay: () => void
}) {
  return (
    <Modal
      title="Leave without saving?"
      onClose={onStay}
      footer={
        <>
          <button type="button" className="button danger" onClick={onLeave}>
            Discard changes
          </button>
          <button type="button" className="button primary" onClick={onStay}>
            Keep editing
          </button>
        </>
      }
    >
      <p className="quiet">What you changed on this page isn't saved.</p>
    </Modal>
  )
}
