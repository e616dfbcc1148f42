import type { endpointOperations } from '../../contract/endpoints.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, toPage } from '../cursor.ts'

export const endpointHandlers: HandlersFor<typeof endpointOperations> = {
  list: async ({ query, management }) => {
    const { limit, cursor, ...filter } = query
    const rows = await management.endpoints.list({
      ...filter,
      afterName: decodeCursor('endpoints', cursor),
      limit: limit + 1,
    })
    return toPage('endpoints', rows, limit, ({ name }) => name)
  },
  create: async ({ body, management }) => management.endpoints.create(body),
  get: async ({ params, management }) => management.endpoints.get(params.name),
  update: async ({ params, body: { reason, ...changes }, management }) =>
    management.endpoints.update(params.name, changes, { reason }),
  delete: async ({ params, query, management }) =>
    management.endpoints.remove(params.name, { force: query.force, reason: query.reason }),
  health: async ({ params, management }) => management.endpoints.health(params.name),
  listHealth: async ({ query, management }) => {
    const { limit, cursor, q, troubled, ...filter } = query
    const rows = await management.endpoints.listHealth({
      ...filter,
      nameHas: q,
      isTroubled: troubled,
      afterName: decodeCursor('endpoint-health', cursor),
      limit: limit + 1,
    })
    return toPage('endpoint-health', rows, limit, ({ name }) => name)
  },
  pause: async ({ params, body, management }) => {
    await management.endpoints.pause(params.name, body.reason)
    return management.endpoints.health(params.name)
  },
  resume: async ({ params, body, management }) => {
    await management.endpoints.resume(params.name, body.reason)
    return management.endpoints.health(params.name)
  },
  enable: async ({ params, body, management }) => {
    await management.endpoints.enable(params.name, body.reason)
    return management.endpoints.health(params.name)
  },
  disable: async ({ params, body, management }) => {
    await management.endpoints.disable(params.name, body.reason)
    return management.endpoints.health(params.name)
  },
  resetCircuit: async ({ params, body, management }) => {
    await management.endpoints.resetCircuit(params.name, body.reason)
    return management.endpoints.health(params.name)
  },
  resetAllCircuits: async ({ body, management }) => ({
    endpoints: await management.endpoints.resetAllCircuits({ tag: body.tag }),
  }),
  listSecrets: async ({ params, management }) => ({ data: await management.endpoints.secrets(params.name) }),
  compareSecrets: async ({ params, body, management }) => ({
    fields: await management.endpoints.compareSecrets(params.name, body.values),
  }),
  rotateSecret: async ({ params, body, management }) =>
    management.endpoints.rotateSecret(params.name, {
      ...(body.overlapMs !== undefined && { overlapMs: body.overlapMs }),
      ...(body.secret !== undefined && { secret: body.secret }),
      reason: body.reason,
    }),
  test: async ({ params, exact, management, signal }) => {
    const payload = exact((given) => given.payload)
    const tested = await management.endpoints.test(params.name, {
      signal,
      ...(payload !== undefined && { payload }),
    })
    const { timings, request, response } = tested
    return {
      ...tested,
      timings: timings && { ...timings },
      request: request && { ...request },
      response: response && { ...response },
    }
  },
  request: async ({ params, body, caller, holdfast, exact, signal }) => {
    const { payload: _, ...rest } = body
    const payload = exact((given) => given.payload)
    const input = { ...rest, ...(payload !== undefined && { payload }), signal }
    return holdfast.request(params.name, input, caller.actor)
  },
}
