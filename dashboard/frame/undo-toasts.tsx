import { Toast } from '@base-ui/react/toast'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiProblem } from '../api/api-problem.ts'
import { Icon } from '../parts/icon.tsx'
import { onUndoOffered, takeUndoOffers, type UndoOffer } from '../parts/undo.ts'
import { announce } from './announcements.ts'

const shownMs = 10_000
const shownAtOnce = 3

const manager = Toast.createToastManager<UndoOffer>()

/** What was just done, each with a button that takes it back. The time stands still while the pointer or the focus is on them. */
export function UndoToasts() {
  useEffect(() => {
    const show = (): void => {
      for (const offer of takeUndoOffers()) {
        manager.add({ title: offer.text, data: offer, timeout: shownMs })
      }
    }
    show()
    return onUndoOffered(show)
  }, [])
  return (
    <Toast.Provider toastManager={manager} limit={shownAtOnce}>
      <Toast.Portal>
        <Toast.Viewport className="toasts undo" aria-label="Just done">
          <Toasts />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function Toasts() {
  const { toasts } = Toast.useToastManager<UndoOffer>()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="toast"
      hidden={toast.limited === true}
      // A group and no dialog: keys go on working while it is there.
      render={(props) => <div {...props} role="group" aria-modal={undefined} />}
    >
      <Toast.Title className="grow text" render={<p />} />
      {toast.data !== undefined && <UndoButton id={toast.id} offer={toast.data} />}
      <button
        type="button"
        className="button ghost square"
        aria-label="Close"
        onClick={() => manager.close(toast.id)}
      >
        <Icon name="close" />
      </button>
    </Toast.Root>
  ))
}

function UndoButton({ id, offer }: { readonly id: string; readonly offer: UndoOffer }) {
  const queryClient = useQueryClient()
  const [isUndoing, setIsUndoing] = useState(false)
  const undo = async (): Promise<void> => {
    setIsUndoing(true)
    manager.update(id, { timeout: 0 })
    try {
      await offer.undo()
      manager.close(id)
      announce('Undone.')
      await queryClient.invalidateQueries({ type: 'active' })
    } catch (error) {
      const reason = error instanceof ApiProblem ? error.message : String(error)
      manager.update(id, { title: `Not undone: ${reason}`, timeout: shownMs })
      setIsUndoing(false)
    }
  }
  return (
    <button type="button" className="button" disabled={isUndoing} onClick={() => void undo()}>
      {isUndoing ? 'Undoing…' : 'Undo'}
    </button>
  )
}
