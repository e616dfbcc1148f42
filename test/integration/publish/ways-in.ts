import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { Rig } from '../../support/engine/rig.ts'

/** Publishes one event and returns its id. Options are those of the docs, without `client`. */
export type Publish = (type: string, payload: unknown, options?: Record<string, unknown>) => Promise<string>

/** Every way in, by name: what is true of one must be true of all. */
export const waysIn: readonly [string, (rig: Rig, holdfast: Holdfast) => Publish][] = [
  [
    'SDK publish',
    (_, holdfast) =>
      async (type, payload, options = {}) =>
        (await holdfast.publish(type, payload, options)).id,
  ],
  [
    'SDK publishBatch',
    (_, holdfast) =>
      async (type, payload, options = {}) =>
        (await holdfast.publishBatch([{ type, payload, ...options }]))[0]!.id,
  ],
  [
    'SQL publish',
    (rig) =>
      async (type, payload, options = {}) =>
        rig.value<string>('select holdfast.publish($1, $2::jsonb, $3::jsonb)', [
          type,
          JSON.stringify(payload),
          JSON.stringify(options),
        ]),
  ],
  [
    'SQL publish_batch',
    (rig) =>
      async (type, payload, options = {}) =>
        rig.value<string>('select holdfast.publish_batch($1::jsonb)', [
          JSON.stringify([{ type, payload, ...options }]),
        ]),
  ],
]
