import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

/** A dialog: traps the focus, closes with Escape, and gives the focus back to where it was. */
export function Modal({
  title,
  onClose,
  children,
  footer,
  isWide = false,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly footer?: ReactNode
  readonly isWide?: boolean
}) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="overlay" />
        <Dialog.Popup className={`dialog${isWide ? ' wide' : ''}`}>
          <header>
            <Dialog.Title className="text-[16px]">{title}</Dialog.Title>
          </header>
          <div className="body">{children}</div>
          {footer !== undefined && <footer>{footer}</footer>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
