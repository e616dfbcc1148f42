import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { Icon } from '../../parts/icon.tsx'

const DeliveryDialog = lazy(async () => ({ default: (await import('./delivery-dialog.tsx')).DeliveryDialog }))

export function DeliveryActions({ delivery }: { readonly delivery: Answer<'deliveries.get'> }) {
  const [dialog, setDialog] = useState<'retry' | 'cancel' | null>(null)
  if (!may('operate')) return null
  return (
    <>
      <button type="button" className="button" data-key="r" onClick={() => setDialog('retry')}>
        <Icon name="replay" />
        Retry now…
      </button>
      <button type="button" className="button" onClick={() => setDialog('cancel')}>
        Cancel…
      </button>
      <Suspense>
        {dialog !== null && (
          <DeliveryDialog kind={dialog} delivery={delivery} onClose={() => setDialog(null)} />
        )}
      </Suspense>
    </>
  )
}
