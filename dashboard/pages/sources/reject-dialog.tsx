import { useApi } from '../../api/use-api.ts'
import { CallDialog } from '../../parts/call-dialog.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Modal } from '../../parts/modal.tsx'
import type { ChosenReject } from './rejects-card.tsx'

export function RejectDialog({ reject, dialog, onClose }: ChosenReject & { readonly onClose: () => void }) {
  const params = { id: reject.id }
  if (dialog === 'show') return <ShowDialog id={reject.id} onClose={onClose} />
  if (dialog === 'retry') {
    return (
      <CallDialog
        call="sourceRejects.retry"
        input={() => ({ params })}
        title={`Retry message ${reject.id} of ${reject.source}?`}
        verb="Retry"
        said={({ published, error }) =>
          published ? 'Published it as an event.' : `It failed again: ${error}`
        }
        means="It is published with the present mapping of its source."
        onClose={onClose}
      />
    )
  }
  return (
    <CallDialog
      call="sourceRejects.discard"
      input={() => ({ params })}
      title={`Discard message ${reject.id} of ${reject.source}?`}
      verb="Discard"
      isDanger
      said={() => 'Discarded it.'}
      means="The message is deleted and can't be restored."
      onClose={onClose}
    />
  )
}

function ShowDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const reject = useApi('sourceRejects.get', { params: { id } })
  return (
    <Modal title={`Message ${id}`} onClose={onClose} isWide>
      <Loaded of={reject}>
        {({ error, fields, body, bodyEncoding, isBodyTruncated }) => (
          <div className="grid gap-3">
            <p>{error}</p>
            <JsonView value={fields} label="Fields" />
            <p className="hint">
              Body{bodyEncoding === 'base64' && ' in Base64'}
              {isBodyTruncated && ', its beginning'}
            </p>
            <pre className="code wrap">{body}</pre>
          </div>
        )}
      </Loaded>
    </Modal>
  )
}
