import { useBlocker } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

const LeaveDialog = lazy(async () => ({ default: (await import('./leave-dialog.tsx')).LeaveDialog }))

/** Asks before changes that aren't saved are left. Another tab of the same page counts as leaving; a change of the time range doesn't. */
export function LeaveGuard({ hasChanges }: { readonly hasChanges: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      hasChanges && (current.pathname !== next.pathname || tabOf(current.search) !== tabOf(next.search)),
    enableBeforeUnload: () => hasChanges,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Suspense>
      <LeaveDialog onLeave={blocker.proceed} onStay={blocker.reset} />
    </Suspense>
  )
}

function tabOf(search: unknown): unknown {
  return (search as { readonly tab?: unknown } | undefined)?.tab
}
