import type { Dataset } from './operator-dataset.ts'

export interface OperatorCall {
  readonly name: string
  /** GET by default. */
  readonly method?: 'POST' | 'DELETE'
  /** By round, for a call that can't be repeated. */
  readonly path: string | ((round: number) => string)
  readonly body?: object
}

const DAY_MS = 86_400_000

/**
 * Calls of people and monitors over HTTP, with usual filters, on the data of operator-dataset.ts. `first` and `later` are pages; `rare` searches a
 * few matches among many rows.
 */
export function operatorCalls(
  { endpoints, events, eventId }: Dataset,
  formatId: (prefix: 'msg' | 'dlv' | 'dlt' | 'run' | 'op', id: number) => string,
): OperatorCall[] {
  const endpoint = (k: number) => `endpoint-${String(k % endpoints).padStart(5, '0')}`
  const middle = Math.floor(events / 2)
  const since = new Date(Date.now() - 10 * DAY_MS).toISOString()
  const until = new Date(Date.now() - 9 * DAY_MS).toISOString()
  const list = (
    name: string,
    path: string,
    filters: Record<string, string>,
    prefix: 'msg' | 'dlv' | 'dlt' | 'run',
    offset: number,
  ) => [
    ...Object.entries({ all: '', ...filters }).map(([what, query]) => ({
      name: `${name} ${what}`,
      path: `${path}?limit=50${query === '' ? '' : `&${query}`}`,
    })),
    {
      name: `${name} later page`,
      path: `${path}?limit=50&cursor=${formatId(prefix, eventId(middle) + offset)}`,
    },
  ]
  const failures = {
    'status 503': 'statusCode=503',
    'error code nobody had': 'errorCode=nothing_like_this',
    'error text': 'error=memory',
    'from to': `from=${since}&to=${until}`,
  }
  const messages = {
    type: 'eventType=type.7',
    'rare type': 'eventType=rare.event',
    'type pattern': 'eventType=type.*',
    tenant: 'tenant=tenant-7',
    correlation: `correlationId=correlation-${Math.floor(middle / 10)}`,
  }
  return [
    ...list(
      'events',
      '/v1/events',
      {
        ...messages,
        unrouted: 'state=unrouted',
        routed: 'state=routed',
        'from to': `from=${since}&to=${until}`,
      },
      'msg',
      0,
    ),
    { name: 'events of an ordering key', path: '/v1/events?limit=50&orderingKey=key-7' },
    ...Object.entries({
      path: 'path=customer.id&equals=nobody',
      text: 'text=nothing-like-this',
      'text of a tenant': 'text=nothing-like-this&tenant=tenant-7',
      'text of a day': `text=nothing-like-this&from=${since}&to=${until}`,
    }).map(([name, query]) => ({
      name: `payload search ${name}`,
      path: `/v1/events/search?limit=50&${query}`,
    })),
    { name: 'event', path: `/v1/events/${formatId('msg', eventId(middle))}` },
    ...list(
      'deliveries',
      '/v1/deliveries',
      {
        ...messages,
        ...failures,
        'of a busy endpoint': `endpoint=${endpoint(0)}`,
        'of a quiet endpoint': `endpoint=${endpoint(9000)}`,
        owed: 'state=pending',
        'owed by one': `state=pending&endpoint=${endpoint(2)}`,
        succeeded: 'state=succeeded',
        dead: 'state=dead',
        'dead of one': `state=dead&endpoint=${endpoint(1)}`,
        cancelled: 'state=cancelled',
        'of an event': `messageId=${formatId('msg', eventId(middle))}`,
        'of a route': `route=route-${endpoint(5)}`,
        skipped: 'state=skipped',
        'next attempt': 'sort=next_attempt',
        'next attempt of one': `sort=next_attempt&endpoint=${endpoint(2)}`,
        'next attempt of a rare type': 'sort=next_attempt&eventType=rare.event',
        'next attempt by error text': 'sort=next_attempt&error=memory',
      },
      'dlv',
      5,
    ),
    { name: 'delivery why', path: `/v1/deliveries/${formatId('dlv', eventId(middle) + 6)}/why` },
    { name: 'delivery why dead', path: `/v1/deliveries/${formatId('dlv', eventId(middle) + 7)}/why` },
    { name: 'delivery owed', path: `/v1/deliveries/${formatId('dlv', eventId(middle) + 6)}` },
    { name: 'delivery dead', path: `/v1/deliveries/${formatId('dlv', eventId(middle) + 7)}` },
    ...list(
      'dead letters',
      '/v1/dead-letters',
      {
        ...messages,
        ...failures,
        open: 'state=open',
        resolved: 'state=resolved',
        'of a busy endpoint': `endpoint=${endpoint(1)}&state=open`,
        'of a quiet endpoint': `endpoint=${endpoint(9000)}`,
        'of a job': 'job=job-07',
        critical: 'criticality=critical',
        class: 'class=permanent',
      },
      'dlt',
      8,
    ),
    { name: 'dead letter', path: `/v1/dead-letters/${formatId('dlt', eventId(middle) + 8)}` },
    { name: 'dead-letter groups', path: '/v1/dead-letters/groups' },
    { name: 'dead-letter groups of one', path: `/v1/dead-letters/groups?endpoint=${endpoint(1)}` },
    { name: 'dead-letter groups by text', path: '/v1/dead-letters/groups?error=memory' },
    { name: 'dead-letter summary', path: '/v1/dead-letters/summary' },
    { name: 'dead-letter recipients', path: '/v1/dead-letters/recipients' },
    ...list(
      'runs',
      '/v1/runs',
      {
        'of a queue': 'queue=queue-03',
        'of a busy job': 'job=job-01',
        'of a job': 'job=job-11',
        running: 'state=running',
        waiting: 'state=waiting',
        scheduled: 'state=scheduled',
        succeeded: 'state=succeeded',
        failed: 'state=failed',
        'failed of a job': 'state=failed&job=job-11',
        'timed out': 'state=timed_out',
        cancelled: 'state=cancelled',
        expired: 'state=expired',
      },
      'run',
      2048,
    ),
    { name: 'run ended', path: `/v1/runs/${formatId('run', eventId(middle) + 2048)}` },
    { name: 'run owed', path: `/v1/runs/${formatId('run', eventId(5 * Math.floor(middle / 5)) + 3072)}` },
    { name: 'jobs', path: '/v1/jobs' },
    { name: 'job', path: '/v1/jobs/job-01' },
    { name: 'queues', path: '/v1/queues' },
    { name: 'queue', path: '/v1/queues/queue-00' },
    { name: 'workers', path: '/v1/workers' },
    { name: 'schedules', path: '/v1/schedules' },
    { name: 'endpoints', path: '/v1/endpoints?limit=100' },
    { name: 'endpoints by tag', path: '/v1/endpoints?limit=100&tag=team-3' },
    { name: 'endpoint', path: `/v1/endpoints/${endpoint(2)}` },
    { name: 'endpoint health', path: `/v1/endpoints/${endpoint(1)}/health` },
    { name: 'endpoint health owing much', path: `/v1/endpoints/${endpoint(2)}/health` },
    { name: 'endpoint statistics', path: `/v1/endpoints/${endpoint(2)}/statistics?window=24h` },
    { name: 'endpoint statistics 30 d', path: `/v1/endpoints/${endpoint(2)}/statistics?window=30d` },
    { name: 'endpoints with health', path: '/v1/endpoint-health?limit=50' },
    { name: 'endpoints with health, in trouble', path: '/v1/endpoint-health?limit=50&troubled=true' },
    { name: 'endpoints with health, by name', path: '/v1/endpoint-health?limit=50&q=0042' },
    { name: 'circuit changes', path: '/v1/circuit-changes?limit=50' },
    { name: 'circuit changes of one', path: `/v1/circuit-changes?limit=50&endpoint=${endpoint(3)}` },
    ...['1h', '3h', '24h', '7d', '30d'].map((window) => ({
      name: `statistics ${window}`,
      path: `/v1/statistics?window=${window}`,
    })),
    { name: 'endpoint statistics 3 h', path: `/v1/endpoints/${endpoint(2)}/statistics?window=3h` },
    { name: 'recent event types', path: '/v1/recent-event-types' },
    { name: 'search a name', path: '/v1/search?q=0042' },
    { name: 'search an id', path: `/v1/search?q=${formatId('dlv', eventId(middle) + 6)}` },
    { name: 'settings', path: '/v1/settings' },
    { name: 'alert rules', path: '/v1/alert-rules' },
    { name: 'alert channels', path: '/v1/alert-channels' },
    { name: 'quarantine', path: '/v1/quarantine' },
    { name: 'replays', path: '/v1/operations?kind=replay' },
    { name: 'routes', path: '/v1/routes?limit=100' },
    { name: 'event types', path: '/v1/event-types' },
    { name: 'overview', path: '/v1/overview' },
    { name: 'audit', path: '/v1/audit' },
    { name: 'audit of one', path: `/v1/audit?subject=endpoint:${endpoint(3)}` },
    { name: 'audit by person', path: '/v1/audit?actor=person-3' },
    { name: 'audit by action', path: '/v1/audit?action=circuit.opened' },
    { name: 'alerts', path: '/v1/alerts' },
    { name: 'alerts firing', path: '/v1/alerts?state=firing' },
    { name: 'operations', path: '/v1/operations' },
    { name: 'operations running', path: '/v1/operations?state=running' },
    {
      name: 'audit by person and action',
      path: '/v1/audit?actor=person-3&action=circuit.opened',
    },
    { name: 'audit by what nobody did', path: '/v1/audit?actor=nobody&action=circuit.opened' },
    ...bulkCalls({ endpoint, since, until }),
    { name: 'maintenance', path: '/v1/maintenance' },
    { name: 'api keys', path: '/v1/api-keys' },
  ]
}

/** Previews and starts of bulk actions, and deletions. Calls that change something come last. */
function bulkCalls({
  endpoint,
  since,
  until,
}: {
  endpoint: (k: number) => string
  since: string
  until: string
}): OperatorCall[] {
  const everything = { from: new Date(Date.now() - 31 * DAY_MS).toISOString(), to: new Date().toISOString() }
  const operations = {
    'redrive of one': { kind: 'redrive', filter: { endpoint: endpoint(1) } },
    'redrive by text': { kind: 'redrive', filter: { error: 'memory' } },
    'cancel of one': { kind: 'cancel', filter: { endpoint: endpoint(2) } },
    'cancel of a rare type': { kind: 'cancel', filter: { eventType: 'rare.event' } },
    'retry of one': { kind: 'retry', filter: { endpoint: endpoint(5) } },
  }
  const replays = {
    'replay of one': { endpoint: endpoint(0), ...everything },
    'replay of a day': { from: since, to: until },
    'replay of a rare type': { eventType: 'rare.event', ...everything },
    'replay of messages': { eventType: 'rare.event', targetEndpoint: endpoint(0), ...everything },
  }
  return [
    ...Object.entries(operations).map(
      ([name, body]): OperatorCall => ({
        name: `preview ${name}`,
        method: 'POST',
        path: '/v1/operations/preview',
        body,
      }),
    ),
    ...Object.entries(replays).map(
      ([name, body]): OperatorCall => ({
        name: `preview ${name}`,
        method: 'POST',
        path: '/v1/replays',
        body: { ...body, dryRun: true },
      }),
    ),
    ...Object.entries(operations).map(
      ([name, body]): OperatorCall => ({
        name: `begin ${name}`,
        method: 'POST',
        path: '/v1/operations',
        body,
      }),
    ),
    {
      name: 'delete a route',
      method: 'DELETE',
      path: (round) => `/v1/routes/route-${endpoint(9100 + round)}`,
    },
    {
      name: 'delete an endpoint by force',
      method: 'DELETE',
      path: (round) => `/v1/endpoints/${endpoint(10 + round)}?force=true`,
    },
  ]
}
