import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { describeApi } from '../../contract/openapi.ts'
import { isAllowed } from '../../core/access/roles.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import { type Dashboard, registerDashboard } from './register-dashboard.ts'

const pages: Readonly<Record<string, string>> = {
  '/docs': 'docs.html',
  '/sign-in': 'sign-in.html',
}

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

const assets = ['page.css', 'sign-in.js', 'docs.js']

/** The pages for browsers, the metrics for Prometheus, and the OpenAPI document. */
export function registerPages(app: FastifyInstance, holdfast: Holdfast, dashboard: Dashboard): void {
  const serve = (path: string, file: string): void => {
    const text = readFileSync(new URL(`assets/${file}`, import.meta.url), 'utf8')
    const type = contentTypes[file.split('.').at(-1) ?? ''] ?? 'text/plain'
    app.get(path, async (_request, reply) => reply.type(type).send(text))
  }
  for (const [path, file] of Object.entries(pages)) serve(path, file)
  for (const file of assets) serve(`/assets/${file}`, file)

  registerDashboard(app, dashboard)

  const description = JSON.stringify(describeApi())
  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(description),
  )
  app.get('/metrics', async (request, reply) => {
    if (request.caller === null || !isAllowed(request.caller.role, 'read')) {
      throw new HoldfastError('forbidden', 'Metrics need an API key with the role viewer, operator or admin.')
    }
    const { contentType, body } = await holdfast.renderMetrics()
    return reply.type(contentType).send(body)
  })
}
