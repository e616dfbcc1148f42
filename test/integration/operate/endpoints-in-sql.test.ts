import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { array, constantFrom, sample } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseEventTypePattern } from '../../../src/core/routes/event-type-pattern.ts'
import type { EndpointChanges, EndpointInput } from '../../../src/transports/endpoint-types.ts'
import { createRole } from '../../support/database-role.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

const url = 'https://crm.example/hooks'
const plain = { url, signing: { scheme: 'none' } } as const

interface Stored {
  endpoint: Record<string, unknown>
  routes: unknown[]
}

describe('endpoints in SQL', () => {
  let rig: Rig
  let node: RunningNode
  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ encryptionKey: randomBytes(32).toString('base64') })
  })
  afterAll(() => rig.stop())

  const create = (name: string, config: unknown, options: unknown = {}) =>
    rig.value<Record<string, unknown>>('select holdfast.create_endpoint($1, $2, $3)', [
      name,
      JSON.stringify(config),
      JSON.stringify(options),
    ])
  const update = (name: string, changes: unknown) =>
    rig.value<Record<string, unknown>>('select holdfast.update_endpoint($1, $2)', [
      name,
      JSON.stringify(changes),
    ])
  /** What is stored of an endpoint but its name and times, in which routes have it too. */
  const stored = async (name: string): Promise<Stored> => {
    const [row] = await rig.rows<Stored>(
      `select holdfast_internal.endpoint_view(endpoint) - 'name' || jsonb_build_object('config', config) as endpoint,
         array(select to_jsonb(route) - '{id,lane_id,created_at,updated_at,changed_xid,name}'::text[] || jsonb_build_object('name', substr(route.name, length($1) + 1))
               from holdfast_internal.routes as route where lane_id = endpoint.id order by id) as routes
       from holdfast_internal.endpoints as endpoint where name = $1`,
      [name],
    )
    if (row === undefined) throw new Error(`no endpoint ${name}`)
    return row
  }
  let last = 0
  /** Two names of the same length: routes are named after them. */
  const pair = () => {
    last += 1
    const number = String(last).padStart(4, '0')
    return [`sql-${number}`, `sdk-${number}`] as const
  }

  it.each<[string, Omit<EndpointInput, 'name'>]>([
    ['the least', { config: plain }],
    ['a function', { transport: 'function' }],
    ['a function with a handler', { transport: 'function', config: { handler: 'mail', timeoutMs: 500 } }],
    ['mail', { transport: 'smtp', config: { to: ['ada@example.com'], from: "o'neil+x@mail.example.com" } }],
    [
      'who it belongs to',
      {
        config: plain,
        tenant: 'acme',
        tags: ['a', 'b'],
        contact: 'ops@example.com',
        eventTypes: ['order.*'],
      },
    ],
    [
      'event types of every kind',
      {
        config: plain,
        eventTypes: [
          'order.created',
          'order.*',
          'order_x.**',
          '**.paid',
          'a.*.b.**',
          '**',
          'Order.Paid',
          'order.*',
          `${'long.'.repeat(30)}name`,
        ],
      },
    ],
    ['the preset webhook', { config: plain, preset: 'webhook' }],
    [
      'the preset record-store',
      { config: plain, preset: 'record-store', eventTypes: ['edx.course.enrollment.*', 'edx.video.*'] },
    ],
    [
      'the preset record-store with headers of its own',
      {
        preset: 'record-store',
        config: {
          ...plain,
          classify: { '4xx': 'retryable' },
          headers: { 'x-experience-api-version': '2.0.0', 'X-Team': 'a { b' },
          plainHeaders: ['x-team', 'X-EXPERIENCE-API-VERSION'],
        },
      },
    ],
    [
      'a low cap, which lowers the base',
      { config: plain, retry: { maxDelayMs: 500 }, request: { maxDelayMs: 500 } },
    ],
    [
      'a long base, which lifts the cap',
      { config: plain, retry: { baseDelayMs: 3_600_000 }, request: { baseDelayMs: 3_600_000 } },
    ],
    [
      'a schedule, which brings its retries',
      { config: plain, retry: { strategy: 'schedule', delaysMs: [100, 200] } },
    ],
    ['another strategy than its preset', { config: plain, preset: 'webhook', retry: { strategy: 'fixed' } }],
    [
      'every setting',
      {
        preset: 'must-deliver',
        config: {
          ...plain,
          method: 'PUT',
          capture: 'all',
          maxResponseBytes: 0,
          auth: { type: 'none' },
          classify: { 409: 'success', '4xx': 'gone' },
        },
        retry: {
          strategy: 'linear',
          baseDelayMs: 100,
          incrementMs: 200,
          jitter: 'none',
          maxRetries: 0,
          giveUpAfterMs: 60_000,
        },
        request: { maxRetries: 1, jitter: 'none', deadlineMs: 100, retryOn: [500] },
        circuit: { threshold: 1, cooldownMs: 1000 },
        limits: { concurrency: 1, ratePerSecond: 0.5, maxPending: 1, onFull: 'reject' },
        autoDisable: { onGone: true, threshold: 3, reenableAfterMs: 1000 },
        onDead: 'block',
        batch: { maxMessages: 5, maxBytes: null },
        holdOn: [401],
      },
    ],
    [
      'no batch though its preset has one',
      { config: plain, preset: 'record-store', batch: null, holdOn: [] },
    ],
    ['addresses', { config: { ...plain, url: 'http://127.0.0.1:8080/a/b;c=%20d/' } }],
    ['an address in brackets', { config: { ...plain, url: 'http://[::1]:8080' } }],
  ])('are stored as the SDK stores them: %s', async (_, input) => {
    const [inSql, inSdk] = pair()
    const { config, ...options } = input
    await create(inSql, config ?? {}, options)
    await node.holdfast.endpoints.create({ name: inSdk, ...input } as EndpointInput)
    expect(await stored(inSql)).toEqual(await stored(inSdk))
  })

  it('have the defaults of the site', async () => {
    await rig.rows(`select holdfast.set_setting('defaults', $1)`, [
      JSON.stringify({
        retry: { maxDelayMs: 1000 },
        circuit: { threshold: 7 },
        limits: { concurrency: 3 },
        autoDisable: { onGone: true },
      }),
    ])
    for (const options of [
      {},
      { preset: 'webhook' },
      { circuit: { cooldownMs: 2000 }, limits: { maxPending: 9 } },
    ] as const) {
      const [inSql, inSdk] = pair()
      await create(inSql, plain, options)
      await node.holdfast.endpoints.create({ name: inSdk, config: plain, ...options })
      expect(await stored(inSql)).toEqual(await stored(inSdk))
    }
    await rig.rows(`select holdfast.set_setting('defaults', null)`)
  })

  it.each<[string, EndpointChanges]>([
    ['a limit', { limits: { concurrency: 8 } }],
    ['its address', { config: { url: 'https://other.example/' } }],
    ['its preset', { preset: 'high-traffic' }],
    [
      'its preset and more',
      { preset: 'record-store', retry: { maxRetries: 1 }, config: { capture: 'none' } },
    ],
    ['its event types', { eventTypes: ['order.paid', 'order.*'] }],
    ['who it belongs to', { tenant: null, tags: [], contact: null }],
    ['its batch', { batch: null }],
    ['nothing', {}],
  ])('change as the SDK changes them: %s', async (_, changes) => {
    const [inSql, inSdk] = pair()
    const first = {
      preset: 'webhook',
      tenant: 'acme',
      tags: ['a'],
      eventTypes: ['order.created', 'order.*'],
      batch: { maxMessages: 2 },
      circuit: { threshold: 9 },
    } as const
    for (const name of [inSql, inSdk]) await create(name, plain, first)
    const shown = await update(inSql, changes)
    await node.holdfast.endpoints.update(inSdk, changes)
    expect(await stored(inSql)).toEqual(await stored(inSdk))
    const { eventTypes } = await node.holdfast.endpoints.get(inSql)
    expect(shown).toMatchObject({ name: inSql, state: 'active', eventTypes })
  })

  it.each<[string, unknown, unknown, string]>([
    ['Crm', plain, {}, 'name must be 1 to 63 characters'],
    ['crm', {}, {}, 'config.url is missing'],
    ['crm', { ulr: url }, {}, 'config.u'],
    ['crm', { ...plain, ulr: url }, {}, 'config.ulr is not a known field'],
    ['crm', [], {}, 'config must be an object'],
    ['crm', { ...plain, url: 'crm.example' }, {}, 'config.url must be an absolute URL'],
    ['crm', { ...plain, url: 'ftp://crm.example' }, {}, 'config.url must be an absolute URL'],
    ['crm', { ...plain, url: 'https://ada:pw@crm.example' }, {}, 'config.url must be an absolute URL'],
    ['crm', { ...plain, url: 'https://crm.example:65536' }, {}, 'config.url must be an absolute URL'],
    ['crm', { ...plain, url: 'https://1.2.3.256' }, {}, 'config.url must be an absolute URL'],
    ['crm', { ...plain, method: 'HEAD' }, {}, 'config.method must be one of POST'],
    ['crm', { ...plain, timeoutMs: 1 }, {}, 'config.timeoutMs must be a whole number from 100 to 300000'],
    ['crm', { ...plain, classify: { 99: 'success' } }, {}, 'config.classify must have statuses'],
    ['crm', { ...plain, classify: { 409: 'fine' } }, {}, 'config.classify.409 must be one of'],
    [
      'crm',
      { ...plain, headers: { 'a b': 'c' }, plainHeaders: ['a b'] },
      {},
      'config.headers must have the names',
    ],
    [
      'crm',
      { ...plain, headers: { host: 'c' }, plainHeaders: ['host'] },
      {},
      'config.headers.host is set by Holdfast',
    ],
    [
      'crm',
      { ...plain, headers: { 'Webhook-Id': 'c' }, plainHeaders: ['webhook-id'] },
      {},
      'is set by Holdfast',
    ],
    [
      'crm',
      { ...plain, headers: { a: 'b\nc' }, plainHeaders: ['a'] },
      {},
      'config.headers.a must be text without line breaks',
    ],
    ['crm', plain, { name: 'other' }, 'name and config are arguments of their own'],
    ['crm', plain, { retry: { maxRetries: 1001 } }, 'retry.maxRetries must be a whole number from 0 to 1000'],
    ['crm', plain, { retry: { maxRetries: '5' } }, 'retry.maxRetries must be a whole number'],
    ['crm', plain, { retry: { retries: 5 } }, 'retry.retries is not a known field'],
    ['crm', plain, { retry: { baseDelayMs: 5000, maxDelayMs: 1000 } }, 'retry.baseDelayMs must not exceed'],
    [
      'crm',
      plain,
      { request: { baseDelayMs: 5000, maxDelayMs: 1000 } },
      'request.baseDelayMs must not exceed',
    ],
    ['crm', plain, { retry: { strategy: 'schedule' } }, 'retry.delaysMs must list at least one delay'],
    ['crm', plain, { retry: { delaysMs: [100] } }, 'retry.delaysMs needs the strategy "schedule"'],
    ['crm', plain, { circuit: { threshold: 0 } }, 'circuit.threshold must be a whole number from 1 to 1000'],
    ['crm', plain, { limits: { onFull: 'drop' } }, 'limits.onFull must be one of'],
    ['crm', plain, { preset: 'fast' }, 'preset must be one of standard'],
    ['crm', plain, { tags: ['x'.repeat(65)] }, 'tags[0] must be text of 1 to 64 characters'],
    ['crm', plain, { tags: ['🙂'.repeat(65)] }, 'tags[0] must be text of 1 to 64 characters'],
    ['crm', plain, { tags: 'a' }, 'tags must be a list of tags'],
    ['crm', plain, { tenant: '' }, 'tenant must be text'],
    ['crm', plain, { eventTypes: ['a b'] }, 'eventTypes[0] must be an event type'],
    ['crm', plain, { eventTypes: ['ok', 'a..b'] }, 'eventTypes[1] has an empty segment'],
    ['crm', plain, { eventTypes: ['a.b*'] }, 'eventTypes[0] has a "*" that is not a segment of its own'],
    ['crm', plain, { holdOn: [500] }, 'holdOn[0] must be a whole number from 400 to 499'],
    ['crm', plain, { batch: {} }, 'batch.maxMessages is missing'],
    ['crm', plain, { onDead: 'stop' }, 'onDead must be one of'],
    ['crm', plain, [], 'its options must be an object'],
    ['crm', { to: [] }, { transport: 'smtp' }, 'config.to must be a list of 1 to 20'],
    ['crm', { to: ['nobody'] }, { transport: 'smtp' }, 'config.to[0] must be an e-mail address'],
    ['crm', { handler: 7 }, { transport: 'function' }, 'config.handler must be text'],
  ])('refuses %s, %j, %j', async (name, config, options, problem) => {
    const before = await rig.count('endpoints')
    await expect(create(name, config, options)).rejects.toMatchObject({
      code: 'HF016',
      message: expect.stringContaining(problem),
    })
    expect(await rig.count('endpoints')).toBe(before)
    // What is wrong with the arguments of the function only SQL can say.
    if (/^(?:its options|name and config)/.test(problem)) return
    const input = { ...(options as object), name, config } as EndpointInput
    await expect(node.holdfast.endpoints.create(input)).rejects.toMatchObject({
      code: expect.stringMatching(/^invalid_(?:endpoint|name)$/),
    })
  })

  it.each<[string, object]>([
    ['a URL with a query', { url: `${url}?key=1`, signing: { scheme: 'none' } }],
    ['a signing secret', { url, signing: { scheme: 'standard-webhooks' } }],
    ['credentials', { url, auth: { type: 'bearer', token: 'tok_canary' } }],
    ['a header that may be secret', { url, headers: { 'x-key': 'tok_canary' } }],
    ['a certificate', { url, tls: { ca: 'tok_canary' } }],
    ['a placeholder, which only nodes can read', { url, headers: { a: '{{ id }}' }, plainHeaders: ['a'] }],
  ])('refuses %s, and stores and tells nothing of it', async (_, config) => {
    const failure = (await create('secretive', config).catch((error: unknown) => error)) as Error & {
      code: string
    }
    expect(failure).toMatchObject({ code: 'HF016' })
    expect(failure.message).toMatch(/API, the CLI|without line breaks and "\{\{"/)
    expect(failure.message).not.toContain('tok_canary')
  })

  it('are created and changed by the example of the documentation', async () => {
    const docs = await readFile(new URL('../../../docs/sql.md', import.meta.url), 'utf8')
    const example = /## Endpoints\n.*?```sql\n(.*?)```/s.exec(docs)?.[1] ?? ''
    expect(example).toContain('create_endpoint')
    await rig.rows(example)
    expect(await node.holdfast.endpoints.get('crm')).toMatchObject({
      config: { url: 'https://crm.example.com/v2/hooks', headers: { 'x-team': 'sales' } },
      preset: 'webhook',
      eventTypes: ['order.*'],
      limits: { concurrency: 8, ratePerSecond: 20 },
    })
  })

  it('sign after the SDK has made them a secret', async () => {
    const [name] = pair()
    await create(name, { url })
    const { signingSecret } = await node.holdfast.endpoints.update(name, {
      config: { signing: { scheme: 'standard-webhooks' } },
    })
    expect(signingSecret).toMatch(/^whsec_/)
  })

  it('are refused under a name that is taken, or that does not exist', async () => {
    const [name] = pair()
    await create(name, plain)
    await expect(create(name, plain)).rejects.toMatchObject({ code: 'HF015' })
    await expect(update('nobody', {})).rejects.toMatchObject({ code: 'HF001' })
    await expect(update(name, { name: 'other' })).rejects.toMatchObject({ code: 'HF016' })
    await expect(update(name, { transport: 'function' })).rejects.toMatchObject({ code: 'HF016' })
    await expect(update(name, { limits: { concurrency: 0 } })).rejects.toMatchObject({ code: 'HF016' })
    await expect(update(name, null)).rejects.toMatchObject({ code: 'HF016' })
  })

  it('leave a route alone that has the name of one that they need', async () => {
    const [name, other] = pair()
    await create(other, plain)
    await node.holdfast.routes.create({ name: `${name}:x`, eventType: 'x', endpoint: other })
    await expect(create(name, plain, { eventTypes: ['x'] })).rejects.toMatchObject({
      code: 'HF016',
      message: expect.stringContaining(`a route is named "${name}:x"`),
    })
    expect(await node.holdfast.routes.get(`${name}:x`)).toMatchObject({ endpoint: other })
  })

  it('are delivered to by a running node at once, and by what changes from then on', async () => {
    const [name] = pair()
    const heard: string[] = []
    node.holdfast.handle('one', () => void heard.push('one'))
    node.holdfast.handle('two', () => void heard.push('two'))
    await create(name, { handler: 'one' }, { transport: 'function', eventTypes: [`${name}.*`] })
    await node.holdfast.publish(`${name}.created`, {})
    await until('the first handler', () => heard.includes('one'))
    await update(name, { config: { handler: 'two' } })
    await rig.heard(node)
    await node.holdfast.publish(`${name}.created`, {})
    await until('the second handler', () => heard.includes('two'))
    expect(heard).toEqual(['one', 'two'])
  })

  it('with settings that only a node can validate are held with a reason, and the node keeps running', async () => {
    const [name] = pair()
    await create(name, { ...plain, url: 'http://xn--a-ecp.ru/' })
    const other = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(name, {})
    await node.holdfast.send(other, {})
    await rig.whenSettled(other)
    const health = await until(
      'the reason',
      () => node.holdfast.endpoints.health(name),
      ({ state }) => state === 'held',
    )
    expect(health.reason).toBe("its settings can't be used: config.url is not an absolute URL")
  })

  it('keep their secrets through a change, but for the field that has them', async () => {
    const [name] = pair()
    await node.holdfast.endpoints.create({
      name,
      config: {
        url,
        auth: { type: 'bearer', token: 'tok_canary' },
        headers: { 'x.key': 'k', plain: 'p' },
        plainHeaders: ['plain'],
      },
    })
    const fields = async () => (await node.holdfast.endpoints.get(name)).secrets.map(({ field }) => field)
    expect(await fields()).toEqual(['auth.token', 'headers.x.key', 'signing.secret'])
    const shown = await update(name, { limits: { concurrency: 2 }, config: { url: `${url}/more` } })
    expect(JSON.stringify(shown)).not.toContain('tok_canary')
    expect(await fields()).toEqual(['auth.token', 'headers.x.key', 'signing.secret'])
    await update(name, { config: { headers: { 'x.key': { isSet: true }, plain: 'q' } } })
    expect(await fields()).toEqual(['auth.token', 'headers.x.key', 'signing.secret'])
    await expect(update(name, { config: { url: 'https://thief.example/' } })).rejects.toMatchObject({
      code: 'HF016',
      message: expect.stringContaining("can't lead to another host"),
    })
    await expect(update(name, { config: { headers: { other: { isSet: true } } } })).rejects.toMatchObject({
      code: 'HF016',
    })
    // Nobody can read the stored value: a node couldn't send it as a plain header.
    await expect(update(name, { config: { plainHeaders: ['plain', 'X.Key'] } })).rejects.toMatchObject({
      code: 'HF016',
      message: expect.stringContaining('config.headers.x.key is stored encrypted'),
    })
    await update(name, { config: { headers: {}, auth: { type: 'none' } } })
    expect(await fields()).toEqual(['signing.secret'])
    await update(name, { config: { url: 'https://other.example/', signing: { scheme: 'none' } } })
    expect(await fields()).toEqual([])
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({ state: 'active' })
  })

  it('are written by administrators, under the name that they logged in with, and by no application', async () => {
    const admin = await createRole(rig.database, { kind: 'admin' })
    const app = await createRole(rig.database, { kind: 'app' })
    const monitor = await createRole(rig.database, { kind: 'monitor' })
    try {
      await rig.rows(
        `select holdfast.grant_admin('${admin.name}'), holdfast.grant_app('${app.name}'), holdfast.grant_monitor('${monitor.name}')`,
      )
      const [name] = pair()
      await admin.pool.query(`select holdfast.create_endpoint($1, $2, '{}', 'somebody else')`, [
        name,
        JSON.stringify(plain),
      ])
      await admin.pool.query(`select holdfast.update_endpoint($1, '{"onDead": "block"}', 'somebody else')`, [
        name,
      ])
      const entries = await rig.rows(
        `select actor, action, detail -> 'after' ? 'settings' as told from holdfast.audit_log where subject = $1 order by id`,
        [`endpoint:${name}`],
      )
      expect(entries).toEqual([
        { actor: admin.name, action: 'endpoint.created', told: true },
        { actor: admin.name, action: 'endpoint.updated', told: true },
      ])
      for (const role of [app, monitor]) {
        await expect(role.pool.query(`select holdfast.create_endpoint('x', '{}')`)).rejects.toMatchObject({
          code: '42501',
        })
        await expect(role.pool.query(`select holdfast.update_endpoint('x', '{}')`)).rejects.toMatchObject({
          code: '42501',
        })
      }
    } finally {
      for (const role of [admin, app, monitor]) await role.drop()
    }
  })

  it('read patterns of event types as TypeScript does', async () => {
    const segment = constantFrom('*', '**', 'order', 'a_b', 'x-1', '', 'b*', '***', 'ä', '-')
    const patterns = sample(
      array(segment, { minLength: 1, maxLength: 20 }).map((segments) => segments.join('.')),
      { numRuns: 500, seed: 18 },
    )
    const rows = await rig.rows<{
      pattern: string
      exact: string
      like: string
      segments: number
      regex: string
      problem: string
    }>(
      `select pattern, exact_type as exact, like_pattern as like, segments, regex, problem
       from unnest($1::text[]) as pattern cross join lateral holdfast_internal.parse_event_type_pattern(pattern)`,
      [patterns.filter((text) => text !== '')],
    )
    for (const { pattern, problem, ...columns } of rows) {
      const parsed = parseEventTypePattern(pattern)
      if (parsed.ok)
        expect({ text: pattern, ...columns, problem }).toEqual({ ...parsed.value, problem: null })
      else expect(problem, pattern).not.toBeNull()
    }
    expect(rows.filter(({ problem }) => problem === null).length).toBeGreaterThan(20)
  })
})
