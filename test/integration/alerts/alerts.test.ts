import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Logger } from '../../../src/engine/logger.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

interface Line {
  readonly level: string
  readonly message: string
  readonly details: Record<string, unknown>
}

describe('alerts', () => {
  let rig: Rig
  let node: RunningNode
  let holdfast: Holdfast
  let receiver: HttpReceiver
  let mailServer: SMTPServer
  const mails: string[] = []
  const lines: Line[] = []

  const note = (level: string) => (details: object, message: string) =>
    lines.push({ level, message, details: details as Record<string, unknown> })
  const logger: Logger = { debug() {}, info: note('info'), warn: note('warn'), error: note('error') }

  /** One look at every rule, now: not one that was under way already. */
  const look = async () => {
    const [asked] = await rig.rows<{ at: string }>('select clock_timestamp()::text as at')
    await holdfast.maintenance.run('alerts')
    await until('the look', () =>
      rig.value<boolean>(
        `select last_started_at > $1 and coalesce(last_succeeded_at > last_started_at, false)
         from holdfast_internal.maintenance_tasks where name = 'alerts'`,
        [asked?.at],
      ),
    )
  }
  const firing = async () => (await holdfast.alerts.list({ state: 'firing' })).data
  const notices = () =>
    rig.rows<{ channel: string; title: string; state: string }>(
      'select * from holdfast_internal.alert_notices order by id',
    )
  /** So that a test needn't wait for the minute that a condition must hold. */
  const only = async (...rules: string[]) => {
    await rig.rows(
      `update holdfast_internal.alert_rules set is_enabled = name = any ($1::text[]), hold_ms = 0, clear_ms = 0, quiet_ms = 0`,
      [rules],
    )
  }

  beforeAll(async () => {
    rig = await Rig.create()
    receiver = await HttpReceiver.start()
    mailServer = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, _session, callback) {
        let source = ''
        stream.on('data', (chunk: Buffer) => {
          source += chunk.toString()
        })
        stream.on('end', () => {
          mails.push(source)
          callback()
        })
      },
    })
    await new Promise<void>((resolve) => mailServer.listen(0, '127.0.0.1', resolve))
    const { port } = mailServer.server.address() as AddressInfo
    node = await rig.start({
      logger,
      limits: { maintenanceMs: 20 },
      smtpUrl: `smtp://127.0.0.1:${port}`,
      runbookUrl: 'https://wiki.example/runbook',
      allowNetworks: ['127.0.0.0/8'],
      allowPorts: 'any',
    })
    holdfast = node.holdfast
    await holdfast.maintenance.status()
    await until('the leader', async () => (await holdfast.maintenance.status()).tasks.length > 0)
  })
  afterEach(async () => {
    await rig.rows(
      'truncate holdfast_internal.alerts, holdfast_internal.alert_notices, holdfast_internal.dead_letters',
    )
    await rig.rows(
      'update holdfast_internal.alert_rules set silenced_until = null, last_notice_at = null, endpoint = null, tag = null, channels = null',
    )
    lines.length = 0
    mails.length = 0
  })
  afterAll(async () => {
    await rig.stop()
    await receiver.stop()
    await new Promise<void>((resolve) => mailServer.close(() => resolve()))
  })

  const bury = (count: number, endpoint: string, criticality = 1) =>
    rig.rows(
      `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts)
       select nextval('holdfast_internal.ids'), nextval('holdfast_internal.ids'), 1, (select id from holdfast_internal.endpoints where name = $2), 'permanent', 3, $3, 0, 1, '[]'
       from generate_series(1, $1::int)`,
      [count, endpoint, criticality],
    )

  it('are sent once per incident, not repeated, and followed by a resolution', async () => {
    await only('dead-letters')
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(100, name)
    await look()
    expect(await firing()).toEqual([])
    await bury(1, name)
    await look()
    await look()
    expect(await firing()).toMatchObject([
      {
        rule: 'dead-letters',
        subject: 'all',
        value: 101,
        threshold: 100,
        runbook: 'docs/runbook.md#dead-letters',
      },
    ])
    const told = () => lines.filter(({ message }) => message.includes('dead letters'))
    expect(told()).toHaveLength(1)
    expect(told()[0]).toMatchObject({
      level: 'warn',
      message: '[FIRING] warning: 101 dead letters are open, more than 100',
    })
    expect(told()[0]!.details['alert']).toMatchObject({
      runbook: 'https://wiki.example/runbook#dead-letters',
    })
    await rig.rows(`update holdfast_internal.dead_letters set state = 'resolved'`)
    await look()
    expect(await firing()).toEqual([])
    expect(told().map(({ level }) => level)).toEqual(['warn', 'info'])
    expect((await holdfast.alerts.list()).data).toMatchObject([{ state: 'resolved' }])
  })

  it('fire only after the condition has held, and ignore shorter ones', async () => {
    await only('dead-letters')
    await rig.rows(`update holdfast_internal.alert_rules set hold_ms = 60000 where name = 'dead-letters'`)
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(101, name)
    await look()
    expect((await holdfast.alerts.list({ state: 'pending' })).data).toHaveLength(1)
    await rig.rows(`update holdfast_internal.alerts set since = since - interval '59 seconds'`)
    await rig.rows(`update holdfast_internal.dead_letters set state = 'resolved'`)
    await look()
    expect((await holdfast.alerts.list({ state: 'pending' })).data).toEqual([])
    await rig.rows(`update holdfast_internal.dead_letters set state = 'open'`)
    await look()
    await rig.rows(`update holdfast_internal.alerts set since = since - interval '61 seconds'`)
    await look()
    expect(await firing()).toHaveLength(1)
  })

  it('go to a signed webhook, to Slack and by e-mail, through the engine', async () => {
    await only('dead-letters')
    const { channel, endpoint } = await holdfast.alertChannels.create({
      name: 'pager',
      kind: 'webhook',
      url: new URL('/pager', receiver.url).href,
    })
    expect(channel).toMatchObject({ name: 'pager', kind: 'webhook', endpoint: 'alerts.pager', enabled: true })
    expect(endpoint).toMatchObject({ name: 'alerts.pager', tags: ['holdfast-alerts'] })
    await holdfast.alertChannels.create({
      name: 'team',
      kind: 'slack',
      url: new URL('/slack', receiver.url).href,
    })
    await holdfast.alertChannels.create({ name: 'mail', kind: 'email', to: ['ops@example.com'] })
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(101, name)
    await look()
    await until('the webhook and Slack', () => receiver.ledger.requests.length >= 2)
    const byPath = (path: string) =>
      JSON.parse(receiver.ledger.requests.find(({ path: at }) => at === path)!.body) as unknown
    expect(byPath('/pager')).toMatchObject({
      type: 'alert.firing',
      rule: 'dead-letters',
      severity: 'warning',
      incidents: [{ subject: 'all', value: 101, threshold: 100 }],
      runbook: 'https://wiki.example/runbook#dead-letters',
    })
    const pager = receiver.ledger.requests.find(({ path }) => path === '/pager')!
    const { signingSecret } = endpoint as unknown as { signingSecret: string }
    new Webhook(signingSecret).verify(pager.body, pager.headers as Record<string, string>)
    expect((byPath('/slack') as { text: string }).text).toContain(
      '<https://wiki.example/runbook#dead-letters|what to do>',
    )
    await until('the e-mail', () => mails.length === 1)
    expect(mails[0]).toMatch(/^Subject: Holdfast \[FIRING\] warning: 101 dead letters/m)
    for (const each of ['pager', 'team', 'mail']) await rig.whenSettled(`alerts.${each}`)
    await rig.rows(`update holdfast_internal.alert_notices set at = at - interval '2 minutes'`)
    await look()
    expect((await notices()).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
    expect(lines.some(({ message }) => message.includes('could not be delivered'))).toBe(false)
  })

  it('have a test button, which says what is wrong with a channel', async () => {
    const before = receiver.ledger.requests.length
    const { messageId } = await holdfast.alertChannels.test('team')
    expect(messageId).toMatch(/^msg_/)
    await until('the test notice', () => receiver.ledger.requests.length === before + 1)
    expect(receiver.ledger.requests.at(-1)!.body).toContain('this is a test')
    await holdfast.alertChannels.disable('team')
    await expect(holdfast.alertChannels.test('team')).rejects.toMatchObject({ code: 'alert_not_sent' })
    await holdfast.alertChannels.enable('team')
    expect(await holdfast.alertChannels.test('log')).toEqual({ messageId: null })
    await expect(holdfast.alertChannels.test('pigeon')).rejects.toMatchObject({ code: 'alert_not_found' })
  })

  it('fall back to the log when their endpoint does not accept them, and report it once', async () => {
    await only('dead-letters')
    await rig.rows(`update holdfast_internal.alert_rules set channels = '{team}'`)
    await rig.pause(node, 'alerts.team')
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(101, name)
    await look()
    expect(lines.filter(({ message }) => message.includes('dead letters'))).toEqual([])
    await rig.rows(`update holdfast_internal.alert_notices set at = at - interval '2 minutes'`)
    await look()
    await look()
    const fallbacks = lines.filter(({ message }) => message.startsWith('An alert could not be delivered'))
    expect(fallbacks).toHaveLength(1)
    expect(fallbacks[0]).toMatchObject({ level: 'error', details: { channel: 'team' } })
    await holdfast.endpoints.resume('alerts.team')
    await rig.whenSettled('alerts.team')
  })

  it('fall back to the log when their endpoint has been deleted manually', async () => {
    await only('dead-letters')
    await holdfast.alertChannels.create({
      name: 'gone',
      kind: 'slack',
      url: new URL('/gone', receiver.url).href,
    })
    await holdfast.endpoints.delete('alerts.gone')
    await rig.rows(`update holdfast_internal.alert_rules set channels = '{gone}'`)
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(101, name)
    await look()
    expect(lines.filter(({ message }) => message.includes('dead letters'))).toMatchObject([
      { details: { why: 'the channel gone did not accept the notification' } },
    ])
    expect(await firing()).toHaveLength(1)
    await holdfast.alertChannels.delete('gone')
    expect((await holdfast.alertChannels.list()).map((each) => each.name)).toEqual([
      'log',
      'mail',
      'pager',
      'team',
    ])
  })

  it('are not sent while acknowledged or silenced', async () => {
    await only('dead-letters')
    await rig.rows(`update holdfast_internal.alert_rules set channels = '{log}', remind_ms = 60000`)
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(101, name)
    await look()
    const [alert] = await firing()
    await rig.rows(`update holdfast_internal.alerts set noticed_at = noticed_at - interval '2 minutes'`)
    await look()
    expect(lines.filter(({ message }) => message.includes('STILL FIRING'))).toHaveLength(1)
    await holdfast.as('ada').alerts.acknowledge(alert!.id, { note: 'on it' })
    await rig.rows(`update holdfast_internal.alerts set noticed_at = noticed_at - interval '2 minutes'`)
    await look()
    expect(lines.filter(({ message }) => message.includes('STILL FIRING'))).toHaveLength(1)
    expect(await firing()).toMatchObject([{ acknowledgedBy: 'ada', note: 'on it' }])
    await holdfast.alerts.silence(alert!.id, new Date(Date.now() + 60_000))
    await rig.rows(`update holdfast_internal.dead_letters set state = 'resolved'`)
    await look()
    expect(lines.filter(({ message }) => message.includes('RESOLVED'))).toEqual([])
    await expect(holdfast.alerts.acknowledge(alert!.id)).rejects.toMatchObject({ code: 'alert_not_found' })
    await expect(holdfast.alerts.acknowledge('alt_nonsense')).rejects.toMatchObject({
      code: 'alert_not_found',
    })
  })

  it('fire for endpoints that reject everything, are down, are disabled or lag behind', async () => {
    await only('rejecting', 'circuit-open', 'endpoint-disabled', 'backlog-age')
    await rig.rows(`update holdfast_internal.alert_rules set threshold = 0 where name = 'circuit-open'`)
    const rejecting = await functionEndpoint(holdfast, () => {
      throw new PermanentError('no')
    })
    const down = await functionEndpoint(
      holdfast,
      () => {
        throw new Error('down')
      },
      { circuit: { threshold: 1, cooldownMs: 60_000 } },
    )
    const disabled = await functionEndpoint(holdfast, () => undefined)
    await holdfast.endpoints.disable(disabled)
    await holdfast.sendBatch(
      rejecting,
      Array.from({ length: 25 }, (_, index) => ({ payload: index })),
    )
    await holdfast.send(down, 1)
    await until('both to be noticed', async () => {
      const health = await Promise.all([
        holdfast.endpoints.health(rejecting),
        holdfast.endpoints.health(down),
      ])
      return health[0].state === 'rejecting' && health[1].circuit.state === 'open' && health[1].pending === 1
    })
    await rig.rows(
      `update holdfast_internal.deliveries set owed_at = now() - interval '20 minutes' where lane_id = $1`,
      [await rig.laneId(down)],
    )
    await look()
    expect((await firing()).map(({ rule, subject }) => `${rule} ${subject}`).sort()).toEqual([
      `backlog-age ${down}`,
      `circuit-open ${down}`,
      `endpoint-disabled ${disabled}`,
      `rejecting ${rejecting}`,
    ])
    await holdfast.endpoints.resume(rejecting)
    await holdfast.endpoints.enable(disabled)
    await holdfast.endpoints.delete(down, { force: true })
    await look()
    expect(await firing()).toEqual([])
  })

  it('fire for many new dead letters and old critical ones, limited to their endpoint or tag', async () => {
    await only('dead-letter-rate', 'persisting-critical', 'billing-letters')
    const billing = await functionEndpoint(holdfast, () => undefined, { tags: ['billing'] })
    const other = await functionEndpoint(holdfast, () => undefined)
    await holdfast.alertRules.put({
      name: 'billing-letters',
      kind: 'dead_letters',
      threshold: 0,
      tag: 'billing',
      holdMs: 0,
      quietMs: 0,
    })
    await bury(11, other)
    await look()
    expect((await firing()).map(({ rule }) => rule)).toEqual(['dead-letter-rate'])
    await bury(101, billing, 2)
    await look()
    expect((await firing()).map(({ rule, subject, value }) => `${rule} ${subject} ${value}`).sort()).toEqual([
      'billing-letters tag billing 101',
      'dead-letter-rate all 112',
      'persisting-critical all 101',
    ])
    await holdfast.alertRules.delete('billing-letters')
    await look()
    expect((await firing()).map(({ rule }) => rule).sort()).toEqual([
      'dead-letter-rate',
      'persisting-critical',
    ])
  })

  it('fire for a lost node until it comes back, and for failing maintenance', async () => {
    await only('node-lost', 'partition-upkeep', 'maintenance-failing')
    // In one go, before anybody hands shards over to it.
    await rig.rows(
      `do $$ begin
         insert into holdfast_internal.nodes (incarnation, name, version) values (1000000, 'node-7', '0');
         perform holdfast_internal.bury_node(1000000, 0);
       end $$`,
    )
    await rig.rows(
      `update holdfast_internal.maintenance_tasks set failures = 5 where name in ('partitions', 'idempotency-keys')`,
    )
    await look()
    expect((await firing()).map(({ rule, subject }) => `${rule} ${subject}`).sort()).toEqual([
      'maintenance-failing idempotency-keys',
      'node-lost node-7',
      'partition-upkeep partitions',
    ])
    await rig.rows(
      `insert into holdfast_internal.nodes (incarnation, name, version) values (1000001, 'node-7', '0')`,
    )
    await rig.rows('update holdfast_internal.maintenance_tasks set failures = 0')
    await look()
    expect(await firing()).toEqual([])
    await rig.rows('delete from holdfast_internal.nodes where incarnation = 1000001')
  })

  it('fire for a disabled job and a lost worker', async () => {
    await only('job-disabled', 'worker-lost')
    await rig.rows(
      `insert into holdfast_internal.jobs (name, queue_id, state) values ('report', holdfast_internal.ensure_queue('default'), 'disabled')`,
    )
    await rig.rows(
      `select holdfast_internal.audit('holdfast', 'worker.lost', 'worker:7', '{"name": "worker-7"}')`,
    )
    await look()
    expect((await firing()).map(({ rule, subject }) => `${rule} ${subject}`).sort()).toEqual([
      'job-disabled report',
      'worker-lost worker-7',
    ])
    await rig.rows(`update holdfast_internal.jobs set state = 'active'`)
    await rig.rows(`delete from holdfast_internal.audit_log where action = 'worker.lost'`)
    await look()
    expect(await firing()).toEqual([])
  })

  it('fire when the database outgrows its disk, if the size of the disk is set', async () => {
    await only('disk-low')
    await look()
    expect(await firing()).toEqual([])
    await rig.rows(
      `insert into holdfast_internal.settings values ('disk_bytes', to_jsonb(pg_database_size(current_database()) + 1000))`,
    )
    await look()
    expect(await firing()).toMatchObject([{ rule: 'disk-low', subject: 'database' }])
    await rig.rows(`delete from holdfast_internal.settings where name = 'disk_bytes'`)
  })

  it('continue when one rule cannot be evaluated', async () => {
    await only('dead-letters', 'rejecting')
    await rig.rows(`update holdfast_internal.alert_rules set kind = 'no_such_kind' where name = 'rejecting'`)
    const name = await functionEndpoint(holdfast, () => undefined)
    await bury(101, name)
    await rig.rows('alter table holdfast_internal.breakers rename to hidden')
    await rig.rows(`update holdfast_internal.alert_rules set is_enabled = true where name = 'circuit-open'`)
    try {
      await look()
    } finally {
      await rig.rows('alter table holdfast_internal.hidden rename to breakers')
      await rig.rows(`update holdfast_internal.alert_rules set kind = 'rejecting' where name = 'rejecting'`)
    }
    expect((await firing()).map(({ rule }) => rule)).toEqual(['dead-letters'])
    expect(
      lines.some(
        ({ message, details }) => message.startsWith('An alert rule') && details['rule'] === 'circuit-open',
      ),
    ).toBe(true)
  })

  it('about forgotten endpoints heed how often the rule allows it', async () => {
    const revive = (subject: string) =>
      rig.rows(`select holdfast_internal.audit('node:a', 'lane.revived', $1)`, [subject])
    await revive('endpoint:twice')
    await revive('endpoint:twice')
    await revive('endpoint:once')
    const found = (threshold: number) =>
      rig.rows(
        `select * from holdfast_internal.alert_findings('lane_forgotten', $1, null, null) order by 1`,
        [threshold],
      )
    expect(await found(0)).toEqual([
      { subject: 'endpoint:once', value: 1 },
      { subject: 'endpoint:twice', value: 2 },
    ])
    expect(await found(1)).toEqual([{ subject: 'endpoint:twice', value: 2 }])
    expect(await found(2)).toEqual([])
  })

  it.each([
    [{ name: 'x', kind: 'moon', threshold: 1 }, 'kind'],
    [{ name: 'X', kind: 'dead_letters', threshold: 1 }, 'name'],
    [{ name: 'x', kind: 'dead_letters', threshold: -1 }, 'threshold'],
    [{ name: 'x', kind: 'failure_rate', threshold: 50 }, 'threshold'],
    [{ name: 'x', kind: 'node_lost', threshold: 0, endpoint: 'crm' }, 'endpoint'],
    [{ name: 'x', kind: 'dead_letters', threshold: 1, endpoint: 'a', tag: 'b' }, 'tag'],
    [{ name: 'x', kind: 'dead_letters', threshold: 1, loudness: 11 }, 'loudness'],
  ])('refuse the rule %j', async (rule, path) => {
    await expect(holdfast.alertRules.put(rule as never)).rejects.toMatchObject({
      code: 'invalid_alert',
      details: { problems: [{ path }] },
    })
  })

  it('reject a channel without a valid target', async () => {
    await expect(holdfast.alertChannels.create({ name: 'x', kind: 'pigeon' } as never)).rejects.toMatchObject(
      { code: 'invalid_alert' },
    )
    await expect(
      holdfast.alertChannels.create({ name: 'x', kind: 'slack', url: 'nowhere' }),
    ).rejects.toMatchObject({
      code: 'invalid_endpoint',
    })
    await expect(holdfast.alertChannels.create({ name: 'mail', kind: 'log' })).rejects.toMatchObject({
      code: 'alert_channel_exists',
    })
    expect(await holdfast.alertRules.update('dead-letters', { threshold: 7 })).toMatchObject({
      threshold: 7,
      kind: 'dead_letters',
    })
  })
})
