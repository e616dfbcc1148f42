import { useBlocker } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

const LeaveDialog = lazy(async () => ({ default: (await import('./leave-dialog.tsx')).LeaveDialog }))

/** Asks before changes that aren't saved are left. Another tab of the same page counts as leaving; a change of the time range doesn't. */
export function LeaveGuard({
  hasChanges,
  onDiscard,
}: {
  readonly hasChanges: boolean
  readonly onDiscard: () => void
}) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      hasChanges && (current.pathname !== next.pathname || tabOf(current.search) !== tabOf(next.search)),
    enableBeforeUnload: () => hasChanges,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Suspense>
      <LeaveDialog
        onDiscard={() => {
          onDiscard()
          blocker.proceed()
        }}
        onKeep={blocker.proceed}
        onStay={blocker.reset}
      />
    </Suspense>
  )
}

function tabOf(search: unknown): unknown {
  return (search as { readonly tab?: unknown } | undefined)?.tab
}
