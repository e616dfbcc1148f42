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
import { searchText as text } from './parts/search-text.ts'

interface FrameSearch {
  readonly range?: Range | undefined
}

const rootRoute = createRootRoute({
  component: AppFrame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
  validateSearch: (raw: Record<string, unknown>): FrameSearch => {
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

/** Leaves out what isn't set, so that the address has only what somebody chose. */
function chosen<Search extends object>(search: Search): { [Name in keyof Search]?: Search[Name] } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]?: Search[Name]
  }
}

type Raw = Record<string, unknown>

const endpoints = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints',
  validateSearch: (raw: Raw) =>
    chosen({
      q: text(raw['q']),
      tag: text(raw['tag']),
      only: raw['only'] === 'unhealthy' ? ('unhealthy' as const) : undefined,
    }),
  component: lazyRouteComponent(() => import('./pages/endpoints/endpoints-page.tsx'), 'EndpointsPage'),
})

const endpoint = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/$name',
  validateSearch: (raw: Raw) =>
    chosen({ tab: (['settings', 'history'] as const).find((tab) => tab === raw['tab']) }),
  component: lazyRouteComponent(() => import('./pages/endpoints/endpoint-page.tsx'), 'EndpointPage'),
})

const events = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events',
  validateSearch: (raw: Raw) =>
    chosen({
      type: text(raw['type']),
      tenant: text(raw['tenant']),
      correlationId: text(raw['correlationId']),
      state: raw['state'] === 'unrouted' ? ('unrouted' as const) : undefined,
    }),
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
})

const event = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events/$id',
  component: lazyRouteComponent(() => import('./pages/events/event-page.tsx'), 'EventPage'),
})

const deliveryStates = ['pending', 'succeeded', 'dead', 'expired', 'cancelled', 'dropped'] as const

const deliveries = createRoute({
  getParentRoute: () => rootRoute,
  path: '/deliveries',
  validateSearch: (raw: Raw) =>
    chosen({
      state: deliveryStates.find((state) => state === raw['state']),
      endpoint: text(raw['endpoint']),
      route: text(raw['route']),
      eventType: text(raw['eventType']),
      error: text(raw['error']),
      messageId: text(raw['messageId']),
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
  validateSearch: (raw: Raw) => chosen({ endpoint: text(raw['endpoint']) }),
  component: lazyRouteComponent(() => import('./pages/routes/routes-page.tsx'), 'RoutesPage'),
})

const route = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routes/$name',
  component: lazyRouteComponent(() => import('./pages/routes/route-page.tsx'), 'RoutePage'),
})

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    overview,
    endpoints,
    endpoint,
    events,
    event,
    deliveries,
    delivery,
    deadLetters,
    deadLetter,
    operations,
    operation,
    routes,
    route,
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
