import { HoldfastError } from '../../../core/errors.ts'
import type { Problem } from '../../../core/problem.ts'
import { routeInput } from '../../../core/routes/route-input.ts'
import type { RouteInput } from '../../../transforms/route-types.ts'
import { type CheckContext, collect, type Fields, type Kind, writable } from '../kind.ts'
import { withoutNulls } from '../without-nulls.ts'

export const routeKind: Kind = {
  list: 'routes',
  noun: 'route',
  schema: routeInput,
  merged: [],
  hasReferences: false,
  read: async (client) => {
    const routes = await collect(client.paginate(client.routes.list, { query: { limit: 1000 } }))
    const endpoints = await collect(client.paginate(client.endpoints.list, { query: { limit: 1000 } }))
    const patterns = new Set(
      endpoints.flatMap(({ name, eventTypes }) => eventTypes.map((type) => `${name} ${type}`)),
    )
    // A route created by an endpoint's `eventTypes` is named after the endpoint and belongs to it.
    const isOwn = ({ name, endpoint, eventType }: (typeof routes)[number]) =>
      !name.startsWith(`${endpoint}:`) || !patterns.has(`${endpoint} ${eventType}`)
    return routes.filter(isOwn).map((route) => writable(route, routeInput.shape))
  },
  check,
  create: async (client, _name, fields) => {
    await client.routes.create({ body: fields as object as RouteInput })
    return null
  },
  update: async (client, name, changes) => {
    await client.routes.update({ params: { name }, body: changes })
    return null
  },
  delete: async (client, name) => {
    await client.routes.delete({ params: { name } })
  },
  toFile: (fields) => {
    const { enabled, ...rest } = withoutNulls(fields)
    return enabled === false ? { ...rest, enabled } : rest
  },
}

const sample = { type: 'holdfast.check', payload: null }

/** The server validates pattern, filter and transform with a preview, which changes nothing. */
async function check(fields: Fields, { client, endpoints }: CheckContext): Promise<readonly Problem[]> {
  const endpoint = String(fields['endpoint'])
  if (!endpoints.existing.includes(endpoint) && !endpoints.declared.includes(endpoint)) {
    return [{ path: 'endpoint', message: `names "${endpoint}", which neither exists nor is in this file` }]
  }
  // An endpoint that doesn't exist yet can't be used for a preview: use any other one.
  const stand = endpoints.existing.includes(endpoint) ? endpoint : endpoints.existing[0]
  if (stand === undefined) return []
  try {
    await client.routes.preview({
      body: { route: { ...fields, endpoint: stand } as object as RouteInput, event: sample },
    })
    return []
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.status !== 422) throw error
    const { problems } = error.details
    return Array.isArray(problems) && problems.length > 0
      ? (problems as Problem[]).map(({ path, message }) => ({ path: path.replace(/^route\./, ''), message }))
      : [{ path: '', message: error.message }]
  }
}
