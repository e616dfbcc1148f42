import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router'
import { basePath } from './api/session.ts'
import { AppFrame } from './frame/app-frame.tsx'
import { NotFound } from './frame/not-found.tsx'
import { PageFailed } from './frame/page-failed.tsx'
import { parseRange, type Range } from './frame/time-range.ts'
import { parseLetterSearch } from './pages/dead-letters/letter-search.ts'
import { parseRunSearch } from './pages/runs/run-search.ts'
import { chosen, type RawSearch, textsOf } from './parts/search-params.ts'

interface FrameSearch {
  readonly range?: Range | undefined
}

const rootRoute = createRootRoute({
  component: AppFrame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
  validateSearch: (raw: RawSearch): FrameSearch => {
    const range = parseRange(raw['range'])
    return range === undefined ? {} : { range }
  },
  search: { middlewares: [retainSearchParams(['range'])] },
})

const overview = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})

const endpoints = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints',
  validateSearch: (raw: RawSearch) => ({
    ...textsOf(raw, 'q', 'tag'),
    ...chosen({ only: raw['only'] === 'unhealthy' ? ('unhealthy' as const) : undefined }),
  }),
  component: lazyRouteComponent(() => import('./pages/endpoints/endpoints-page.tsx'), 'EndpointsPage'),
})

const endpoint = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/$name',
  validateSearch: (raw: RawSearch) =>
    chosen({ tab: (['settings', 'history'] as const).find((tab) => tab === raw['tab']) }),
  component: lazyRouteComponent(() => import('./pages/endpoints/endpoint-page.tsx'), 'EndpointPage'),
})

const newEndpoint = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/+new',
  component: lazyRouteComponent(() => import('./pages/endpoints/new-endpoint-page.tsx'), 'NewEndpointPage'),
})

const events = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events',
  validateSearch: (raw: RawSearch) => ({
    ...textsOf(raw, 'type', 'tenant', 'correlationId', 'orderingKey', 'path', 'equals', 'has'),
    ...chosen({ state: raw['state'] === 'unrouted' ? ('unrouted' as const) : undefined }),
  }),
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
})

const event = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events/$id',
  component: lazyRouteComponent(() => import('./pages/events/event-page.tsx'), 'EventPage'),
})

const deliveryStates = ['pending', 'succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped'] as const

const deliveries = createRoute({
  getParentRoute: () => rootRoute,
  path: '/deliveries',
  validateSearch: (raw: RawSearch) => ({
    ...textsOf(raw, 'endpoint', 'route', 'eventType', 'error', 'messageId'),
    ...chosen({
      state: deliveryStates.find((state) => state === raw['state']),
      sort: raw['sort'] === 'next_attempt' ? ('next_attempt' as const) : undefined,
    }),
  }),
  component: lazyRouteComponent(() => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})

const delivery = createRoute({
  getParentRoute: () => rootRoute,
  path: '/deliveries/$id',
  component: lazyRouteComponent(() => import('./pages/deliveries/delivery-page.tsx'), 'DeliveryPage'),
})

const deadLetters = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dead-letters',
  validateSearch: parseLetterSearch,
  component: lazyRouteComponent(
    () => import('./pages/dead-letters/dead-letters-page.tsx'),
    'DeadLettersPage',
  ),
})

const deadLetter = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dead-letters/$id',
  component: lazyRouteComponent(() => import('./pages/dead-letters/dead-letter-page.tsx'), 'DeadLetterPage'),
})

const operations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operations',
  component: lazyRouteComponent(() => import('./pages/operations/operations-page.tsx'), 'OperationsPage'),
})

const operation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operations/$id',
  component: lazyRouteComponent(() => import('./pages/operations/operation-page.tsx'), 'OperationPage'),
})

const routes = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routes',
  validateSearch: (raw: RawSearch) => textsOf(raw, 'endpoint'),
  component: lazyRouteComponent(() => import('./pages/routes/routes-page.tsx'), 'RoutesPage'),
})

const route = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routes/$name',
  component: lazyRouteComponent(() => import('./pages/routes/route-page.tsx'), 'RoutePage'),
})

const newRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routes/+new',
  validateSearch: (raw: RawSearch) => textsOf(raw, 'endpoint', 'eventType'),
  component: lazyRouteComponent(() => import('./pages/routes/new-route-page.tsx'), 'NewRoutePage'),
})

const eventTypes = createRoute({
  getParentRoute: () => rootRoute,
  path: '/event-types',
  component: lazyRouteComponent(() => import('./pages/event-types/event-types-page.tsx'), 'EventTypesPage'),
})

const eventType = createRoute({
  getParentRoute: () => rootRoute,
  path: '/event-types/$name',
  component: lazyRouteComponent(() => import('./pages/event-types/event-type-page.tsx'), 'EventTypePage'),
})

const sources = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sources',
  component: lazyRouteComponent(() => import('./pages/sources/sources-page.tsx'), 'SourcesPage'),
})

const replays = createRoute({
  getParentRoute: () => rootRoute,
  path: '/replays',
  component: lazyRouteComponent(() => import('./pages/replays/replays-page.tsx'), 'ReplaysPage'),
})

const jobs = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs',
  component: lazyRouteComponent(() => import('./pages/jobs/jobs-page.tsx'), 'JobsPage'),
})

const job = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs/$name',
  component: lazyRouteComponent(() => import('./pages/jobs/job-page.tsx'), 'JobPage'),
})

const runs = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import('./pages/runs/runs-page.tsx'), 'RunsPage'),
})

const run = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('./pages/runs/run-page.tsx'), 'RunPage'),
})

const queues = createRoute({
  getParentRoute: () => rootRoute,
  path: '/queues',
  component: lazyRouteComponent(() => import('./pages/queues/queues-page.tsx'), 'QueuesPage'),
})

const workers = createRoute({
  getParentRoute: () => rootRoute,
  path: '/workers',
  component: lazyRouteComponent(() => import('./pages/workers/workers-page.tsx'), 'WorkersPage'),
})

const schedules = createRoute({
  getParentRoute: () => rootRoute,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
})

const alerts = createRoute({
  getParentRoute: () => rootRoute,
  path: '/alerts',
  component: lazyRouteComponent(() => import('./pages/alerts/alerts-page.tsx'), 'AlertsPage'),
})

const system = createRoute({
  getParentRoute: () => rootRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('./pages/system/system-page.tsx'), 'SystemPage'),
})

const broker = createRoute({
  getParentRoute: () => rootRoute,
  path: '/broker',
  component: lazyRouteComponent(() => import('./pages/broker/broker-page.tsx'), 'BrokerPage'),
})

const settings = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})

const audit = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: (raw: RawSearch) => textsOf(raw, 'subject', 'actor', 'action'),
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
})

const apiKeys = createRoute({
  getParentRoute: () => rootRoute,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./pages/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
})

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    overview,
    endpoints,
    newEndpoint,
    endpoint,
    events,
    event,
    deliveries,
    delivery,
    deadLetters,
    deadLetter,
    operations,
    operation,
    replays,
    routes,
    newRoute,
    route,
    eventTypes,
    eventType,
    sources,
    jobs,
    job,
    runs,
    run,
    queues,
    workers,
    schedules,
    alerts,
    system,
    broker,
    settings,
    audit,
    apiKeys,
  ]),
  basepath: basePath,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
