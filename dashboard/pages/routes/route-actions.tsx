import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import type { Route } from './route-draft.ts'

const RouteDialog = lazy(async () => ({ default: (await import('./route-dialog.tsx')).RouteDialog }))

export function RouteActions({ route }: { readonly route: Route }) {
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'switch' | 'delete' | null>(null)
  if (!may('configure')) return null
  return (
    <>
      <button type="button" className="button" data-key="p" onClick={() => setDialog('switch')}>
        {route.enabled ? 'Disable…' : 'Enable…'}
      </button>
      <button type="button" className="button danger" onClick={() => setDialog('delete')}>
        Delete…
      </button>
      <Suspense>
        {dialog !== null && (
          <RouteDialog
            dialog={dialog}
            route={route}
            onClose={() => setDialog(null)}
            onDeleted={() => void navigate({ to: '/routes' })}
          />
        )}
      </Suspense>
    </>
  )
}
