import type { runOperations, scheduleOperations } from '../../contract/runs.ts'
import type { ScheduleInput } from '../../sdk/schedule-input.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, toPage } from '../cursor.ts'
import { withExactPayload } from '../exact-body.ts'

const previewedTimes = 10

export const runHandlers: HandlersFor<typeof runOperations> = {
  list: async ({ query, management }) => management.runs.page(query),
  get: async ({ params, management }) => withExactPayload(await management.runs.get(params.id)),
  cancel: async ({ params, body, management }) => ({
    outcome: await management.runs.cancel(params.id, body.reason),
  }),
  retry: async ({ params, management }) => ({ isDueNow: await management.runs.retryNow(params.id) }),
}

export const scheduleHandlers: HandlersFor<typeof scheduleOperations> = {
  list: async ({ query, management }) => {
    const { limit, cursor } = query
    const afterName = decodeCursor('schedules', cursor)
    const rows = await management.schedules.list({
      ...(afterName !== undefined && { afterName }),
      limit: limit + 1,
    })
    return toPage('schedules', rows.map(withExactPayload), limit, ({ name }) => name)
  },
  put: async ({ params, body, exact, management }) => {
    const payload = exact((given) => given.payload)
    const schedule = {
      ...body,
      name: params.name,
      ...(payload !== undefined && { payload }),
    } as ScheduleInput
    return withExactPayload(await management.schedules.set(schedule))
  },
  get: async ({ params, management }) => {
    const [schedule, next] = await Promise.all([
      management.schedules.get(params.name),
      management.schedules.preview(params.name, previewedTimes),
    ])
    return { ...withExactPayload(schedule), next }
  },
  pause: async ({ params, body, management }) => {
    await management.schedules.pause(params.name, body.reason)
    return withExactPayload(await management.schedules.get(params.name))
  },
  resume: async ({ params, body, management }) => {
    await management.schedules.resume(params.name, body.reason)
    return withExactPayload(await management.schedules.get(params.name))
  },
  delete: async ({ params, management }) => management.schedules.delete(params.name),
}
