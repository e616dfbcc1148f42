import { CopyButton } from './copy-button.tsx'
import { Modal } from './modal.tsx'
import { Note } from './note.tsx'

/** A secret that nobody can look at again. */
export function ShownOnce({
  title,
  text,
  means,
  onClose,
}: {
  readonly title: string
  readonly text: string
  readonly means: string
  readonly onClose: () => void
}) {
  return (
    <Modal
      title={title}
      onClose={onClose}
      footer={
        <button type="button" className="button primary" onClick={onClose}>
          I have it
        </button>
      }
    >
      <Note tone="warn" lead="It is shown this once.">
        {means}
      </Note>
      <pre className="code wrap">{text}</pre>
      <CopyButton text={text} />
    </Modal>
  )
}
