import type { eventOperations } from '../../contract/events.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { HandlersFor } from '../call.ts'
import { keyReused } from '../kept-result.ts'

/**
 * An `Idempotency-Key` header becomes the event's own key, so that one transaction stores both the event and the key: a crash in between can't cause
 * a second publish.
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

/**
 * A conflict of a key from the header is an error of the header: 422, as for every other write. A conflict of an event's own key is reported for the
 * event.
 */
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
