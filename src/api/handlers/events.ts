import type { eventOperations } from '../../contract/events.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { HandlersFor } from '../call.ts'
import { keyReused } from '../kept-result.ts'

/**
 * An `Idempotency-Key` header becomes the event's own key, so that storing the event and remembering the key are one transaction:
 * a crash between the two can't publish twice.
 */
export const eventHandlers: HandlersFor<typeof eventOperations> = {
  publish: async ({ body, holdfast, idempotencyKey, exact }) => {
    const { type, payload: _, ...options } = body
    return withKey(body.idempotencyKey === undefined ? idempotencyKey : null, (key) =>
      holdfast.publish(
        type,
        exact(({ payload }) => payload),
        { ...(key && { idempotencyKey: key }), ...options },
      ),
    )
  },
  publishBatch: async ({ body, holdfast, idempotencyKey, exact }) => {
    const events = body.events.map((event, index) => ({
      ...(idempotencyKey !== null && { idempotencyKey: `${idempotencyKey}#${index}` }),
      ...event,
      payload: exact((given) => given.events[index]?.payload),
    }))
    const hasOwnKeys = body.events.some((event) => event.idempotencyKey !== undefined)
    return withKey(hasOwnKeys ? null : idempotencyKey, async () => ({
      events: await holdfast.publishBatch(events),
    }))
  },
  send: async ({ params, body, holdfast, idempotencyKey, exact }) => {
    const { payload: _, ...options } = body
    return withKey(body.idempotencyKey === undefined ? idempotencyKey : null, (key) =>
      holdfast.send(
        params.name,
        exact(({ payload }) => payload),
        {
          ...(key && { idempotencyKey: key }),
          ...options,
        },
      ),
    )
  },
}

/** A conflict of a key that came as a header is the header's: 422, as for every other write. An event's own key is the event's. */
async function withKey<Result>(
  key: string | null,
  work: (key: string | null) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(key)
  } catch (error) {
    const isConflict = error instanceof HoldfastError && error.code === 'idempotency_conflict'
    throw key !== null && isConflict ? keyReused(key) : error
  }
}
