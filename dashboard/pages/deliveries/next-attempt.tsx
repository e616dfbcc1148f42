import { Time } from '../../parts/time.tsx'
import type { Obstacles } from './obstacles.ts'

/** When a pending delivery is tried again, or what keeps it from being tried. */
export function NextAttempt({
  delivery: { endpoint, nextAttemptAt },
  obstacles,
}: {
  readonly delivery: { readonly endpoint: string | null; readonly nextAttemptAt: string | null }
  readonly obstacles: Obstacles
}) {
  const obstacle = endpoint === null ? undefined : obstacles.get(endpoint)
  if (obstacle !== undefined) return obstacle
  return nextAttemptAt === null ? 'due' : <Time at={nextAttemptAt} as="in" />
}
