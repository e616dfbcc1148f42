import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAllowed, permissions } from '../../core/access/roles.ts'
import { version } from '../../version.ts'
import { type DashboardFile, type DashboardFiles, readDashboardFiles } from './dashboard-files.ts'
import { pageBase } from './page-base.ts'

/** The first segment of every path of the dashboard. */
export const dashboardSections = [
  'events',
  'deliveries',
  'dead-letters',
  'operations',
  'replays',
  'endpoints',
  'routes',
  'event-types',
  'jobs',
  'runs',
  'queues',
  'workers',
  'schedules',
  'alerts',
  'system',
  'settings',
  'sources',
  'broker',
  'audit',
  'api-keys',
] as const

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Holdfast</title>
<h1>The dashboard isn't built</h1><p>Run <code>npm ci &amp;&amp; npm run build</code> in the clone, then start Holdfast again. The API works: see <a href="docs">its calls</a>.</p></html>`

/** Facts about this installation that every page contains. */
interface Site {
  readonly environment: string | null
  readonly traceUrl: string | null
  readonly isDemoOffered: boolean
}

/** The web application: one page for all of its paths, and the files that it loads. */
export interface Dashboard {
  readonly files: DashboardFiles | null
  readonly send: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
}

export function createDashboard(site: Site): Dashboard {
  const files = readDashboardFiles()
  return {
    files,
    send: (request, reply) => {
      if (files === null) return reply.code(503).type('text/html; charset=utf-8').send(notBuilt)
      return reply.type('text/html; charset=utf-8').send(fillIn(files.page, request, site))
    },
  }
}

export function registerDashboard(app: FastifyInstance, { files, send }: Dashboard): void {
  const page = async (request: FastifyRequest, reply: FastifyReply) => send(request, reply)
  app.get('/', page)
  for (const section of dashboardSections) {
    app.get(`/${section}`, page)
    app.get(`/${section}/*`, page)
  }
  for (const [name, file] of files?.assets ?? []) {
    app.get(dashboardAssetPath(name), async (request, reply) => sendAsset(request, reply, file))
  }
}

const assetFolder = '/assets/app/'

function dashboardAssetPath(name: string): string {
  return `${assetFolder}${name}`
}

/** The same for every user of the package: no key is needed, so that a page can load while the database is unavailable. */
export function isDashboardAsset(path: string): boolean {
  return path.startsWith(assetFolder)
}

/** File names contain a hash of the content, so files can be cached for ever. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, file: DashboardFile): FastifyReply {
  const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (takesGzip) reply.header('content-encoding', 'gzip')
  return reply
    .type(file.contentType)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .send(takesGzip ? file.gzipped : file.bytes)
}

/** The page contains the caller, so that its first API call can fetch data. */
function fillIn(page: string, request: FastifyRequest, site: Site): string {
  const { caller } = request
  const session =
    caller === null
      ? null
      : {
          name: caller.name,
          role: caller.role,
          permissions: permissions.filter((permission) => isAllowed(caller.role, permission)),
          csrfToken: caller.csrfToken,
          version,
          ...site,
        }
  const [, theme] = /(?:^|;\s*)holdfast_theme=(light|dark)(?:;|$)/.exec(request.headers.cookie ?? '') ?? []
  return page
    .replace('__BASE__', () => pageBase(request.url))
    .replace('"__SESSION__"', () => JSON.stringify(session).replaceAll('<', '\\u003c'))
    .replace('data-theme="__THEME__"', () => (theme === undefined ? '' : `data-theme="${theme}"`))
}
