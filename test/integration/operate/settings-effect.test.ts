import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SiteSettingName } from '../../../src/core/settings/site-settings.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: Rig
let node: RunningNode
/** Whoever changes settings is another process than the node. */
let operator: Holdfast

const set = (name: SiteSettingName, value: unknown) => operator.settings.update({ [name]: value })

/** Runs a task of the leading node, which has been running since before the change. */
async function runTask(name: string): Promise<void> {
  const find = async () => (await operator.maintenance.status()).tasks.find((task) => task.name === name)
  const before = await until('the leader to know the task', find)
  await operator.maintenance.run(name)
  await until(`the task ${name}`, async () => {
    const task = await find()
    return (
      task?.state === 'idle' && (task.lastStartedAt?.getTime() ?? 0) > (before?.lastStartedAt?.getTime() ?? 0)
    )
  })
}

async function deadLetter(): Promise<string> {
  const name = await functionEndpoint(node.holdfast, () => {
    throw new PermanentError('no')
  })
  await node.holdfast.send(name, {})
  const { data } = await until(
    'the dead letter',
    () => operator.deadLetters.list({ endpoint: name }),
    (page) => page.data.length > 0,
  )
  return data[0]?.id ?? ''
}

const isThere = (letter: string) =>
  rig.value<boolean>(
    `select exists (select from holdfast_internal.dead_letters where id = holdfast.parse_id('dlt', $1))`,
    [letter],
  )

const partitions = async (table: string) =>
  (await rig.rows<{ name: string }>('select name from holdfast_internal.partition_ranges($1)', [table])).map(
    ({ name }) => name,
  )

/** A partition of a month five months ago, which is kept by default. */
async function oldPartition(table: string): Promise<string> {
  const name = `${table}_of_old`
  await rig.rows(
    `select holdfast_internal.create_partition($1, $2, holdfast_internal.id_at(month), holdfast_internal.id_at(month + interval '1 month'))
     from (values (date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '5 months')) as old (month)`,
    [table, name],
  )
  return name
}

async function goesWithRetention(table: string, name: SiteSettingName): Promise<void> {
  const old = await oldPartition(table)
  await runTask('retention')
  expect(await partitions(table)).toContain(old)
  await set(name, 2)
  // Its steps follow one after the other, each when nobody is in the way.
  await until('the partition to go', async () => {
    await runTask('retention')
    return !(await partitions(table)).includes(old)
  })
}

const elsewhere = 'test/integration/operate/settings.test.ts'
const ofJobs = 'test/integration/jobs/site-settings.test.ts'

/** What each setting changes of what is running. A pair names the test that shows it, where it needs more than this. */
const effects: Readonly<
  Record<SiteSettingName, (() => Promise<void>) | readonly [file: string, test: string]>
> = {
  max_pending: async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await rig.pause(node, name)
    for (let message = 0; message < 5; message += 1) await node.holdfast.send(name, message)
    await set('max_pending', 3)
    await until('the node to have said what it owes', () =>
      node.holdfast.send(name, 1).then(
        () => false,
        (error: { code: string }) => error.code === 'queue_full',
      ),
    )
    await set('max_pending', null)
    await node.holdfast.send(name, 1)
    await node.holdfast.endpoints.delete(name, { force: true })
  },
  max_payload_bytes: async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const long = 'x'.repeat(2000)
    await node.holdfast.send(name, long)
    await set('max_payload_bytes', 1024)
    await expect(node.holdfast.send(name, long)).rejects.toMatchObject({ code: 'payload_too_large' })
    await expect(
      rig.rows('select holdfast.send($1, to_jsonb($2::text))', [name, long]),
    ).rejects.toMatchObject({
      code: 'HF003',
    })
    await node.holdfast.send(name, 'short')
    await set('max_payload_bytes', null)
    await node.holdfast.send(name, long)
  },
  idempotency_window_ms: async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const send = (payload: string) =>
      node.holdfast.send(name, payload, { idempotencyKey: `once for ${name}` })
    await set('idempotency_window_ms', 1000)
    await send('first')
    await expect(send('second')).rejects.toMatchObject({ code: 'idempotency_conflict' })
    await until('the key to be forgotten', () =>
      send('second').then(
        () => true,
        () => false,
      ),
    )
  },
  dead_letter_retention_days: async () => {
    const letter = await deadLetter()
    await operator.deadLetters.resolve(letter, { note: 'seen' })
    await rig.rows(`update holdfast_internal.dead_letters set settled_at = now() - interval '2 days'`)
    await runTask('dead-letter-retention')
    expect(await isThere(letter)).toBe(true)
    await set('dead_letter_retention_days', 1)
    await runTask('dead-letter-retention')
    expect(await isThere(letter)).toBe(false)
  },
  unsettled_retention_days: async () => {
    const letter = await deadLetter()
    await rig.rows(
      `update holdfast_internal.dead_letters set created_at = now() - interval '2 days' where state = 'open'`,
    )
    await runTask('dead-letter-retention')
    expect(await isThere(letter)).toBe(true)
    await set('unsettled_retention_days', 1)
    await runTask('dead-letter-retention')
    expect(await isThere(letter)).toBe(false)
  },
  archive_retention_months: () => goesWithRetention('messages', 'archive_retention_months'),
  attempts_retention_months: () => goesWithRetention('attempts', 'attempts_retention_months'),
  audit_retention_days: async () => {
    await rig.rows(
      `insert into holdfast_internal.audit_log (id, at, actor, action, subject, detail) overriding system value
       values (-1, now() - interval '2 days', 'ada', 'endpoint.created', 'endpoint:old', '{}')`,
    )
    const isKept = () => rig.value<boolean>('select exists (select from holdfast.audit_log where id = -1)')
    await runTask('audit-retention')
    expect(await isKept()).toBe(true)
    await set('audit_retention_days', 1)
    await runTask('audit-retention')
    expect(await isKept()).toBe(false)
  },
  source_reject_retention_days: async () => {
    await rig.rows(
      `with source as (insert into holdfast_internal.event_sources (name, type, config, state) values ('old', 'amqp', '{}', 'paused') returning id)
       insert into holdfast_internal.source_rejects (source_id, received_at, code, error, fields, body)
       select id, now() - interval '2 days', 'payload_invalid_json', 'e', '{}', 'x' from source`,
    )
    await runTask('old-source-rejects')
    expect(await rig.count('source_rejects')).toBe(1)
    await set('source_reject_retention_days', 1)
    await runTask('old-source-rejects')
    expect(await rig.count('source_rejects')).toBe(0)
  },
  partition_size: async () => {
    const daily = async () =>
      (await partitions('messages')).filter((name) => /_\d{4}_\d{2}_\d{2}$/.test(name))
    expect(await daily()).toEqual([])
    await set('partition_size', 'day')
    // Months that are there already stay; days follow them.
    await rig.rows('select holdfast.maintain_partitions(4)')
    await runTask('partitions')
    expect((await daily()).length).toBeGreaterThan(0)
  },
  critical_resend_cron: [elsewhere, 'critical_resend_cron changes the schedule of the leading node'],
  critical_resend_timezone: [elsewhere, 'critical_resend_cron changes the schedule of the leading node'],
  rejecting_threshold: [elsewhere, 'rejecting_threshold changes what running nodes do'],
  worker_queue_ttl_ms: [ofJobs, 'worker_queue_ttl_ms is how long work for one worker waits'],
  zombie_check_ms: [ofJobs, 'zombie_check_ms holds for the next round, which comes sooner'],
  zombie_threshold_ms: [ofJobs, 'zombie_threshold_ms decides at the next check what a zombie is'],
  auto_disable: [ofJobs, 'auto_disable applies at once to jobs that do not set it'],
  defaults: [elsewhere, 'defaults are what new endpoints get that say nothing themselves'],
  disk_bytes: async () => {
    // A finding fires after a minute; that it was made is enough here.
    const low = () =>
      rig.value<boolean>(`select exists (select from holdfast_internal.alerts where rule = 'disk-low')`)
    expect(await low()).toBe(false)
    const size = Number(await rig.value('select pg_database_size(current_database())'))
    await set('disk_bytes', size + 1000)
    await until('the alert', async () => {
      await runTask('alerts')
      return low()
    })
  },
}

describe('a setting changes what is running, without a restart:', () => {
  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { maintenanceMs: 50 } })
    operator = rig.client()
  })
  afterAll(() => rig.stop())

  it.each(Object.entries(effects))('%s', async (name, effect) => {
    if (typeof effect === 'function') {
      await effect()
      await operator.settings.reset(name as SiteSettingName)
      return
    }
    const [file, test] = effect
    expect(await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')).toContain(`('${test}`)
  })
})
