import { formatId } from '../core/delivery/ids.ts'
import type { Problem } from '../core/problem.ts'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { EventBody } from '../storage/events.ts'
import { checksBusy } from './publisher.ts'

/** Which events a schema would refuse. */
export interface SchemaCheck {
  readonly checked: number
  readonly failed: number
  /** When the oldest checked event was published. */
  readonly since: Date | null
  /** The first 20 events that fail. */
  readonly failures: readonly { readonly eventId: string; readonly problems: readonly Problem[] }[]
}

const maxBytes = 4 * 1024 * 1024
const budgetMs = 1000
const maxListed = 20

/**
 * Checks events one by one, newest first, until a size or time limit is reached. The time counts from the first result: before it the thread starts
 * and compiles the schema, which on a busy machine would leave time for only one event.
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
