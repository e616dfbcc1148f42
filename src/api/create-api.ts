import { isUtf8 } from 'node:buffer'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { operations } from '../contract/operations.ts'
import { HoldfastError } from '../core/errors.ts'
import type { Logger } from '../engine/logger.ts'
import type { Holdfast } from '../sdk/holdfast.ts'
import type { Database } from '../storage/database.ts'
import type { Authenticator } from './access/authenticator.ts'
import { registerAccess } from './access/register-access.ts'
import { allowedMethods } from './allowed-methods.ts'
import { answerBadHttp, refuseBadHttp } from './bad-http.ts'
import type { DemoSwitch } from './demo-switch.ts'
import { parseBody } from './exact-body.ts'
import { allHandlers } from './handlers/all-handlers.ts'
import { type Readiness, refuseUntilOpen, registerHealth } from './health.ts'
import type { Answer } from './kept-result.ts'
import { createDashboard, type Dashboard } from './pages/register-dashboard.ts'
import { registerPages } from './pages/register-pages.ts'
import { wantsPage } from './pages/wants-page.ts'
import { toProblem } from './problem.ts'
import { endUnreadRequest, readBody } from './read-body.ts'
import { RecentAnswers } from './recent-answers.ts'
import { registerCalls } from './register-calls.ts'
import { requestIdOf } from './request-id.ts'
import { RequestTurns } from './request-turns.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { registerStream } from './stream/register-stream.ts'

export interface ApiOptions {
  readonly holdfast: Holdfast
  readonly database: () => Database
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly readiness: Readiness
  /** Networks of reverse proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Name of this installation. Default: none. */
  readonly environment?: string | null
  /** URL of links to a trace, with `{traceId}`. Default: traces are shown without a link. */
  readonly traceUrl?: string | null
  /** Default: this node offers no demo. */
  readonly demo?: DemoSwitch
  /** Default: limits that suit all well-behaved clients. */
  readonly patience?: ClientPatience
}

/** How long a client may take to send its request. Slow clients are disconnected. */
export interface ClientPatience {
  readonly headersMs: number
  /** For headers and body together. */
  readonly requestMs: number
  /** Interval of checking these limits. */
  readonly checkMs: number
}

const defaultPatience: ClientPatience = { headersMs: 20_000, requestMs: 60_000, checkMs: 5000 }
const keepAliveTimeoutMs = 72_000
const maxParamLength = 255
const maxHeaderBytes = 32 * 1024
const defaultBodyBytes = 1024 * 1024

/** Creates the HTTP API with its pages and hooks, not yet listening. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { headersMs, requestMs, checkMs } = options.patience ?? defaultPatience
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength, ignoreTrailingSlash: true },
    serverFactory: (handle) =>
      serverInTurns(handle, {
        requestTimeout: requestMs,
        keepAliveTimeout: keepAliveTimeoutMs,
        maxHeaderSize: maxHeaderBytes,
        headersTimeout: headersMs,
        connectionsCheckingInterval: checkMs,
        // Node.js would respond without a body; `refuseBadHttp` says what is missing.
        requireHostHeader: false,
      }),
    clientErrorHandler: answerBadHttp,
    frameworkErrors: (error, request, reply) => {
      void answerProblem(error, request, reply, options.logger)
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  })
  app.decorateRequest('caller', null)
  app.decorateRequest('parsedBody', null)
  takeJsonOnly(app)
  addSecurityHeaders(app)
  refuseBadHttp(app)
  const dashboard = createDashboard({
    environment: options.environment ?? null,
    traceUrl: options.traceUrl ?? null,
    isDemoOffered: options.demo !== undefined,
  })
  answerProblems(app, options.logger, dashboard)
  refuseUntilOpen(app, options.readiness)
  registerHealth(app, options.readiness)
  registerAccess(app, options)
  const recent = new RecentAnswers<Answer>({ sizeOf: ({ body }) => body?.length ?? 0 })
  await app.register(async (scope) => {
    registerCalls(
      scope,
      operations,
      allHandlers(options.authenticator, options.environment ?? null, options.demo ?? null),
      { ...options, recent },
    )
    // A reader fetches what an event reports: the response must not be older than the event.
    registerStream(scope, { ...options, onEvent: () => recent.clear() })
    registerPages(scope, options.holdfast, dashboard)
  })
  return app
}

function serverInTurns(handle: RequestListener, options: ServerOptions): Server {
  const turns = new RequestTurns()
  const server = createServer(options, (request, response) =>
    turns.begin(request.socket, () => handle(request, response)),
  )
  turns.watch(server)
  return server
}

/** Keeps the text until the operation is known: a payload may have numbers that JavaScript can't represent. */
function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i,
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const bytes = await readBody(payload, request.routeOptions.bodyLimit ?? defaultBodyBytes)
      request.parsedBody = bytes.length === 0 ? null : parseBody(decode(bytes))
    },
  )
  app.addHook('onResponse', async (request) => endUnreadRequest(request.raw))
}

/** Refuses invalid UTF-8: decoding it with replacement characters would store another text than was sent. */
function decode(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new HoldfastError('invalid_json', 'The body is not valid JSON: it is not UTF-8.')
}

function answerProblems(app: FastifyInstance, logger: Logger, dashboard: Dashboard): void {
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, logger))
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request)
    const methods = allowedMethods(path)
    if (methods.length === 0) {
      // A mistyped URL: the dashboard shows the error within its navigation.
      if (wantsPage(request) && dashboard.files !== null) return dashboard.send(request, reply.code(404))
      throw new HoldfastError('not_found', `There is nothing at ${path}. See /docs for all paths.`)
    }
    reply.header('allow', methods.join(', '))
    throw new HoldfastError(
      'method_not_allowed',
      `${path} accepts ${methods.join(', ')}, not ${request.method}.`,
    )
  })
}

function answerProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  const { status, body, retryAfterSeconds } = toProblem(error, request.id)
  if (body.code === 'internal_error') {
    const details = { error, requestId: request.id, method: request.method, path: pathOf(request) }
    logger.error(details, 'An API request failed')
  }
  if (retryAfterSeconds !== null) reply.header('retry-after', retryAfterSeconds)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(status).type('application/problem+json; charset=utf-8').send(JSON.stringify(body))
}

/** Without the query, which may contain sensitive values. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url
}
