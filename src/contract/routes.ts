import { z } from 'zod'
import { field } from '../core/field.ts'
import { routeInput, routeTransform } from '../core/routes/route-input.ts'
import { transformDescriptions } from '../transforms/descriptions.ts'
import type {
  RouteChanges,
  RouteInput,
  TransformConfigInput,
  UnstoredRoute,
} from '../transforms/route-types.ts'
import { defineOperation } from './define-operation.ts'
import { eventInput } from './events.ts'
import { readAs, typedAs } from './read-as.ts'
import {
  type Because,
  because,
  deletion,
  jsonObject,
  listOf,
  pageQuery,
  queryFlag,
  timestamp,
} from './shapes.ts'

const tag = 'Routes'

const transformConfigInput = z
  .discriminatedUnion(
    'type',
    transformDescriptions.map(({ config }): z.ZodObject => config) as [z.ZodObject, ...z.ZodObject[]],
  )
  .meta({
    id: 'TransformConfigInput',
    description: 'What shape an event gets on its way along a route.',
    examples: transformDescriptions.map(({ example }) => example),
  })

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
    .union([field.text(255), routeInput.partial({ name: true })], {
      error: 'must be the name of a route, or a route',
    })
    .meta({ description: 'The name of a stored route, or an unstored route.' }),
)

const routeMatches = z
  .object({
    scanned: z.int().meta({ description: 'Number of recent events examined.' }),
    since: timestamp.nullable().meta({ description: 'When the oldest examined event was published.' }),
    otherType: z.int(),
    otherTenant: z.int(),
    filteredOut: z
      .int()
      .meta({ description: 'Number of events with a matching type and tenant that the filter excludes.' }),
    filteredOutIds: z.array(z.string()).meta({ description: 'Some of their ids.' }),
    matched: z.int(),
    notChecked: z.int().meta({
      description:
        'Number of events with a matching type and tenant that could not be checked against the filter within one second.',
    }),
    rendering: z.object({
      tried: z.int().meta({ description: 'Number of matching events that were rendered.' }),
      failed: z.int(),
      failures: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          count: z.int(),
          eventIds: z.array(z.string()).meta({ description: 'Some of the failed events.' }),
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
    description: 'The pattern, the filter and the transform are validated before the route is stored.',
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
    summary: 'Get a route',
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
    summary: 'Update a route',
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
      'Rejected while undelivered messages remain on this route, unless `force=true`: they are then cancelled.',
    permission: 'configure',
    params: routeParams,
    query: z.strictObject({ force: queryFlag.default(false), ...because }),
    result: deletion,
    errors: ['route_not_found', 'still_owed'],
  }),
  preview: defineOperation({
    id: 'previewRoute',
    method: 'POST',
    path: '/v1/routes/preview',
    tag,
    summary: 'Test a route with a sample event',
    description:
      'Returns whether the route matches, and the request that would be sent. Nothing is stored or sent.',
    permission: 'read',
    body: z
      .strictObject({
        route: triedRoute,
        event: eventInput.optional(),
        eventId: field
          .text(64)
          .optional()
          .meta({
            description: 'The id of a stored event, `msg_…`, instead of `event`.',
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
    summary: 'Count the recent events that a route matches, and those it fails to render',
    description:
      'Examines the last 1,000 events and renders at most 300 of the matching ones. Nothing is stored or sent.',
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
