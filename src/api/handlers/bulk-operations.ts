import type { bulkOperations } from '../../contract/bulk-operations.ts'
import type { HandlersFor } from '../call.ts'

export const bulkHandlers: HandlersFor<typeof bulkOperations> = {
  list: async ({ query, management }) => management.operations.list(query),
  preview: async ({ body, management }) => management.operations.preview(body),
  create: async ({ body, management }) => management.operations.create(body),
  get: async ({ params, management }) => management.operations.get(params.id),
  outcome: async ({ params, management }) => management.operations.outcome(params.id),
  skipped: async ({ params, query, management }) => {
    const { data, nextCursor } = await management.operations.skipped(params.id, query)
    return { data: [...data], nextCursor }
  },
  pause: async ({ params, management }) => management.operations.pause(params.id),
  resume: async ({ params, management }) => management.operations.resume(params.id),
  cancel: async ({ params, management }) => management.operations.cancel(params.id),
  redriveLetters: async ({ body, management }) => management.operations.create({ ...body, kind: 'redrive' }),
  resolveLetters: async ({ body, management }) => management.operations.create({ ...body, kind: 'resolve' }),
  discardLetters: async ({ body, management }) => management.operations.create({ ...body, kind: 'discard' }),
  retryDeliveries: async ({ body, management }) => management.operations.create({ ...body, kind: 'retry' }),
  cancelRuns: async ({ body, management }) => management.operations.create({ ...body, kind: 'cancel_runs' }),
  cancelDeliveries: async ({ body, management }) => management.operations.create({ ...body, kind: 'cancel' }),
  replay: async ({ body, management }) => {
    const { dryRun, ...input } = body
    return dryRun === true ? management.replays.preview(input) : management.replays.create(input)
  },
  replayOne: async ({ params, body, management }) =>
    management.replays.one(params.id, {
      ...(body.targetEndpoint !== undefined && { targetEndpoint: body.targetEndpoint }),
      ...(body.targetRoute !== undefined && { targetRoute: body.targetRoute }),
    }),
}
