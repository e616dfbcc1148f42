import { formatId } from '../core/delivery/ids.ts'
import type { Problem } from '../core/problem.ts'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { EventBody } from '../storage/events.ts'
import { checksBusy } from './publisher.ts'

/** Which events a schema would refuse. */
export interface SchemaCheck {
  readonly checked: number
  readonly failed: number
  /** When the oldest of those that were checked was published. */
  readonly since: Date | null
  /** The first 20 that fail. */
  readonly failures: readonly { readonly eventId: string; readonly problems: readonly Problem[] }[]
}

const maxBytes = 4 * 1024 * 1024
const budgetMs = 1000
const maxListed = 20

/**
 * One by one, the newest first, as long as they are small enough together and it doesn't take long. The time counts from the first result: before
 * it, the thread starts and compiles the schema, which would leave one event to judge the schema by on a busy machine.
 */
export async function checkEvents(schema: object, events: readonly EventBody[]): Promise<SchemaCheck> {
  let deadlineMs = Number.POSITIVE_INFINITY
  const failures: { eventId: string; problems: readonly Problem[] }[] = []
  let bytes = 0
  let checked = 0
  let failed = 0
  let since: Date | null = null
  for (const { id, body, size, createdAt, erasedAt } of events) {
    bytes += size
    if (bytes > maxBytes || performance.now() > deadlineMs) break
    if (erasedAt !== null) continue
    const result = await intakeChecks.check([{ schema, body }])
    if (result.kind === 'busy') throw checksBusy()
    if (checked === 0) deadlineMs = performance.now() + budgetMs
    checked += 1
    since = createdAt
    if (result.kind === 'ok') continue
    failed += 1
    if (failures.length < maxListed)
      failures.push({ eventId: formatId('msg', id), problems: result.failures })
  }
  return { checked, failed, since, failures }
}
