import { z } from 'zod'
import { field } from '../core/field.ts'
import {
  type RouteChanges,
  type RouteInput,
  routeInput,
  routeTransform,
  type UnstoredRoute,
} from '../core/routes/route-input.ts'
import type { TransformConfigInput } from '../core/routes/transform-configs.ts'
import { defineOperation } from './define-operation.ts'
import { transformConfigInput } from './described-configs.ts'
import { eventInput } from './events.ts'
import { readAs, typedAs } from './read-as.ts'
import { type Because, because, jsonObject, listOf, pageQuery, queryFlag, timestamp } from './shapes.ts'

const tag = 'Routes'

readAs(routeTransform, transformConfigInput)

const routeParams = z.object({
  name: z
    .string()
    .max(255)
    .meta({ description: 'The route.', examples: ['orders-to-crm'] }),
})

const exampleRoute = {
  name: 'orders-to-crm',
  eventType: 'order.*',
  filter: '$.amount > 100',
  endpoint: 'crm',
  transform: { type: 'template', template: { id: '{{ id }}' } },
}

const shownTransform = typedAs<TransformConfigInput>(
  readAs(z.looseObject({ type: z.string() }), transformConfigInput),
)

const routeShape = z
  .object({
    name: z.string(),
    eventType: z.string(),
    filter: z.string().nullable(),
    transform: shownTransform.nullable(),
    endpoint: z.string(),
    tenant: z.string().nullable(),
    criticality: z.enum(['best_effort', 'standard', 'critical']).nullable(),
    enabled: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Route' })

const problem = z.object({ path: z.string(), message: z.string() })

const routePreview = z
  .object({
    matches: z.boolean(),
    isEnabled: z.boolean(),
    matchesEventType: z.boolean(),
    matchesTenant: z.boolean(),
    matchesFilter: z.boolean(),
    schemaFailures: z.array(problem),
    rendered: jsonObject.nullable(),
    error: jsonObject.nullable(),
    request: jsonObject.nullable(),
  })
  .meta({ id: 'RoutePreview' })

const triedRoute = typedAs<string | UnstoredRoute>(
  z
    .union([field.text(255), routeInput.partial({ name: true })])
    .meta({ description: 'The name of a route, or one that is not stored.' }),
)

const routeMatches = z
  .object({
    scanned: z.int().meta({ description: 'How many of the newest events were looked at.' }),
    since: timestamp.nullable().meta({ description: 'When the oldest of them was published.' }),
    otherType: z.int(),
    otherTenant: z.int(),
    filteredOut: z.int().meta({ description: 'Of the type and tenant, and the filter refuses them.' }),
    filteredOutIds: z.array(z.string()).meta({ description: 'Some of these.' }),
    matched: z.int(),
    notChecked: z.int().meta({
      description: 'Of the type and tenant, and too much to be asked of the filter in a second.',
    }),
    rendering: z.object({
      tried: z.int().meta({ description: 'How many of those that match were rendered.' }),
      failed: z.int(),
      failures: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          count: z.int(),
          eventIds: z.array(z.string()).meta({ description: 'Some of them.' }),
        }),
      ),
    }),
  })
  .meta({ id: 'RouteMatches' })

export const routeOperations = {
  list: defineOperation({
    id: 'listRoutes',
    method: 'GET',
    path: '/v1/routes',
    tag,
    summary: 'List routes by name',
    permission: 'read',
    query: z.strictObject({ ...pageQuery, endpoint: field.text(255).optional() }),
    result: listOf(routeShape),
  }),
  create: defineOperation({
    id: 'createRoute',
    method: 'POST',
    path: '/v1/routes',
    tag,
    summary: 'Create a route',
    description: 'The pattern, the filter and the transform are checked before anything is stored.',
    permission: 'configure',
    body: typedAs<RouteInput>(routeInput.meta({ id: 'RouteInput', examples: [exampleRoute] })),
    status: 201,
    result: routeShape,
    errors: ['route_exists', 'invalid_route', 'endpoint_not_found'],
  }),
  get: defineOperation({
    id: 'getRoute',
    method: 'GET',
    path: '/v1/routes/{name}',
    tag,
    summary: 'Look at a route',
    permission: 'read',
    params: routeParams,
    result: routeShape,
    errors: ['route_not_found'],
  }),
  update: defineOperation({
    id: 'updateRoute',
    method: 'PATCH',
    path: '/v1/routes/{name}',
    tag,
    summary: 'Change a route',
    permission: 'configure',
    params: routeParams,
    body: typedAs<RouteChanges & Because>(
      routeInput
        .omit({ name: true })
        .partial()
        .extend(because)
        .meta({ id: 'RouteChanges', examples: [{ enabled: false }] }),
    ),
    result: routeShape,
    errors: ['route_not_found', 'invalid_route', 'endpoint_not_found'],
  }),
  delete: defineOperation({
    id: 'deleteRoute',
    method: 'DELETE',
    path: '/v1/routes/{name}',
    tag,
    summary: 'Delete a route',
    description:
      'Refused while deliveries are owed along it, unless `force=true`: then they end as cancelled.',
    permission: 'configure',
    params: routeParams,
    query: z.strictObject({ force: queryFlag.default(false), ...because }),
    result: z.object({
      cancelled: z.int().meta({ description: 'Deliveries that ended as cancelled at once.' }),
      operation: z
        .string()
        .nullable()
        .meta({ description: 'The operation that cancels the rest, when more than a hundred were owed.' }),
    }),
    errors: ['route_not_found', 'still_owed'],
  }),
  preview: defineOperation({
    id: 'previewRoute',
    method: 'POST',
    path: '/v1/routes/preview',
    tag,
    summary: 'Try a route on a sample event',
    description: 'Shows whether it matches and the request that would be sent. Nothing is stored or sent.',
    permission: 'read',
    body: z
      .strictObject({
        route: triedRoute,
        event: eventInput.optional(),
        eventId: field
          .text(64)
          .optional()
          .meta({
            description: 'A stored event, `msg_…`, instead of `event`.',
            examples: ['msg_0jm3x1c8000'],
          }),
      })
      .meta({
        id: 'RoutePreviewInput',
        examples: [{ route: 'orders-to-crm', event: { type: 'order.created', payload: { id: 17 } } }],
      }),
    result: routePreview,
    errors: [
      'route_not_found',
      'invalid_route',
      'endpoint_not_found',
      'invalid_options',
      'invalid_payload',
      'event_not_found',
      'previews_busy',
      'checks_busy',
    ],
    keepsResult: false,
    isRepeatable: true,
    maxBodyBytes: 2 * 1024 * 1024,
  }),
  matches: defineOperation({
    id: 'matchRoute',
    method: 'POST',
    path: '/v1/routes/matches',
    tag,
    summary: 'Count the newest events that a route would mean, and those that it can not render',
    description:
      'Looks at the last 1,000 events, and renders 300 of those that match at most. Nothing is stored or sent.',
    permission: 'read',
    body: z
      .strictObject({ route: triedRoute })
      .meta({ id: 'RouteMatchesInput', examples: [{ route: 'orders-to-crm' }] }),
    result: routeMatches,
    errors: ['route_not_found', 'invalid_route', 'endpoint_not_found', 'previews_busy'],
    keepsResult: false,
    isRepeatable: true,
  }),
}
