import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generatedSources } from '../../../scripts/schema/generated.ts'
import { siteSettingNames, siteSettings } from '../../../src/core/settings/site-settings.ts'
import { defaultFunctionsDir } from '../../../src/postgres/sources/source-files.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('site-wide settings', () => {
  let rig: Rig
  let node: RunningNode
  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { maintenanceMs: 50 } })
  })
  afterAll(() => rig.stop())

  const set = (name: string, json: string) => rig.value('select holdfast.set_setting($1, $2)', [name, json])
  const valueOf = (name: string) => rig.value('select value from holdfast.settings where name = $1', [name])

  it('are the same in SQL and in TypeScript', async () => {
    for (const [path, sql] of generatedSources()) {
      expect(await readFile(join(defaultFunctionsDir, path), 'utf8')).toBe(sql)
    }
    const listed = await node.holdfast.settings.list()
    expect(listed.map(({ name }) => name)).toEqual([...siteSettingNames].sort())
    for (const setting of listed) {
      expect(setting).toMatchObject({
        value: siteSettings[setting.name].fallback,
        isDefault: true,
        pinned: null,
      })
    }
  })

  it('are checked without reading the time zones of the server, except where one is asked for', async () => {
    const timed = async (statement: string) => {
      const { rows } = await rig.database.pool.query<{ 'QUERY PLAN': [{ 'Execution Time': number }] }>(
        `explain (analyze, format json) ${statement}`,
      )
      return rows[0]!['QUERY PLAN'][0]['Execution Time']
    }
    // The fastest of three: the zones are files, and the first reader waits for the disk.
    const fastest = async (statement: string) =>
      Math.min(await timed(statement), await timed(statement), await timed(statement))
    const readingZones = await fastest('select count(*) from pg_catalog.pg_timezone_names')
    const checkingTwentyTexts = await fastest(
      `select holdfast_internal.value_problem('"a"', '{"type": "string"}', '') from generate_series(1, 20)`,
    )
    expect(checkingTwentyTexts).toBeLessThan(readingZones * 5)
  })

  it('change through the checked function, with an entry in the audit log', async () => {
    expect(await set('dead_letter_retention_days', '90')).toBe(90)
    expect(await valueOf('dead_letter_retention_days')).toBe(90)
    const [entry] = await rig.rows<{ detail: unknown }>(
      `select detail from holdfast.audit_log where subject = 'setting:dead_letter_retention_days'`,
    )
    expect(entry?.detail).toEqual({ before: 30, after: 90 })
    expect(await set('dead_letter_retention_days', 'null')).toBe(30)
  })

  it.each([
    ['max_pending', '-1', 'must be a whole number from 0 to 1000000000, in deliveries'],
    ['max_pending', '1000000001', 'must be a whole number from 0 to 1000000000'],
    ['max_pending', '"many"', 'must be a whole number'],
    ['max_pending', '5.0', 'must be a whole number'],
    ['max_pending', '[1]', 'must be a whole number'],
    ['dead_letter_retention_days', '0', 'must be a whole number from 1 to 36500, in days'],
    ['partition_size', '"hour"', 'must be one of month, week, day'],
    ['critical_resend_cron', '"61 3 * * *"', 'must be "never" or a cron expression with five fields'],
    ['critical_resend_cron', '"3 * *"', 'must be "never" or a cron expression with five fields'],
    ['critical_resend_timezone', '"Mars/Olympus"', 'must be the name of a time zone'],
    ['critical_resend_timezone', '"posix/Europe/Berlin"', 'must be the name of a time zone'],
    ['auto_disable', '{"threshold": 0}', 'threshold must be a whole number from 1 to 1000'],
    ['auto_disable', '{"treshold": 3}', 'treshold is not a known field'],
    [
      'defaults',
      '{"retry": {"maxRetries": "five"}}',
      'retry.maxRetries must be a whole number from 0 to 1000',
    ],
    ['defaults', '{"retry": {"baseDelayMs": 5000, "maxDelayMs": 1000}}', 'retry.baseDelayMs must not exceed'],
    ['defaults', '{"retry": {"strategy": "schedule"}}', 'retry.delaysMs must list at least one delay'],
  ])('refuse %s = %s in SQL and in the SDK, with nothing changed', async (name, json, problem) => {
    const before = await valueOf(name)
    await expect(set(name, json)).rejects.toMatchObject({
      code: 'HF042',
      message: expect.stringContaining(problem),
    })
    const [word = ''] = problem.split(', in')
    if (json !== '5.0') {
      await expect(
        node.holdfast.settings.update({ [name]: JSON.parse(json) as never }),
      ).rejects.toMatchObject({
        code: 'invalid_setting',
        message: expect.stringContaining(name === 'critical_resend_timezone' ? 'must be' : word),
      })
    }
    expect(await valueOf(name)).toEqual(before)
  })

  it('are refused where their value would not be validated, or they are unknown', async () => {
    for (const statement of [
      `update holdfast.settings set value = '5' where name = 'max_pending'`,
      `insert into holdfast.settings values ('max_pending', '5')`,
      `delete from holdfast.settings where name = 'max_pending'`,
      `update holdfast_internal.settings set value = '"5"' where name = 'max_pending'`,
    ]) {
      await expect(rig.rows(statement), statement).rejects.toMatchObject({ code: 'HF042' })
    }
    await expect(set('max_pendings', '5')).rejects.toMatchObject({ code: 'HF040' })
    await expect(
      node.holdfast.settings.update({ max_pending: 5, nonsense: 1 } as never),
    ).rejects.toMatchObject({ code: 'setting_not_found' })
    expect(await valueOf('max_pending')).toBe(1_000_000)
  })

  it('change all together or not at all', async () => {
    await rig.rows(`select holdfast.set_setting('max_pending', '7')`)
    const pinner = await rig.start({ settings: { zombie_check_ms: 60_000 }, nodeName: 'pinner' })
    await expect(
      node.holdfast.settings.update({ max_pending: 8, zombie_check_ms: 1000 }),
    ).rejects.toMatchObject({ code: 'setting_pinned' })
    expect(await valueOf('max_pending')).toBe(7)
    await pinner.holdfast.stop()
    await node.holdfast.settings.reset('max_pending')
    await node.holdfast.settings.reset('zombie_check_ms')
  })

  it('are pinned while a node has them from outside, and keep their value afterwards', async () => {
    const pinner = await rig.start({
      settings: { rejecting_threshold: 3, auto_disable: { threshold: 9 } },
      settingSources: { rejecting_threshold: 'the environment variable HOLDFAST_REJECTING_THRESHOLD' },
      nodeName: 'pinner',
    })
    const [pinned] = (await node.holdfast.settings.list()).filter(
      ({ name }) => name === 'rejecting_threshold',
    )
    expect(pinned).toMatchObject({
      value: 3,
      pinned: { source: 'the environment variable HOLDFAST_REJECTING_THRESHOLD', node: 'pinner' },
    })
    // Fields that are left out have their defaults.
    expect(await valueOf('auto_disable')).toEqual({
      threshold: 9,
      windowMs: 3_600_000,
      reenableAfterMs: null,
    })
    await expect(set('rejecting_threshold', '4')).rejects.toMatchObject({
      code: 'HF041',
      message:
        'the setting "rejecting_threshold" is pinned by the environment variable HOLDFAST_REJECTING_THRESHOLD on node "pinner"',
      hint: 'Change or remove it there, then restart the node.',
    })
    await pinner.holdfast.stop()
    expect(await node.holdfast.settings.get('rejecting_threshold')).toMatchObject({ value: 3, pinned: null })
    expect(await set('rejecting_threshold', '4')).toBe(4)
    await node.holdfast.settings.reset('auto_disable')
  })

  it('are refused as options when they are wrong', () => {
    expect(() => rig.client({ settings: { max_pending: -1 } })).toThrow(
      'The option settings.max_pending must be a whole number from 0 to 1000000000.',
    )
    expect(() => rig.client({ criticalResend: { cron: '0 0 31 2 *' } })).toThrow('invalid schedule')
  })

  it('rejecting_threshold changes what running nodes do', async () => {
    const name = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('no')
    })
    const state = () =>
      rig.value<string>('select state from holdfast_internal.endpoints where name = $1', [name])
    await set('rejecting_threshold', '2')
    // A setting is read with the beat at the latest; until then one message may be too few.
    await until('the endpoint to be paused', async () => {
      await node.holdfast.send(name, {}).catch(() => {})
      return (await state()) === 'rejecting'
    })
    const refused = Number(
      await rig.value(`select count(*) from holdfast_internal.attempts where lane_id = $1`, [
        await rig.laneId(name),
      ]),
    )
    expect(refused).toBeLessThan(siteSettings.rejecting_threshold.fallback)

    const spared = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('no')
    })
    await set('rejecting_threshold', '0')
    await until('the node to know', async () => {
      // The pause of one endpoint shows that the node reads notices; those before it were read, too.
      await rig.heard(node)
      return true
    })
    for (let message = 0; message < 50; message += 1) await node.holdfast.send(spared, { message })
    await until('all to be refused', () =>
      rig.value(
        `select count(*) = 50 from holdfast_internal.attempts as attempt join holdfast_internal.endpoints as endpoint on endpoint.id = attempt.lane_id
         where endpoint.name = $1`,
        [spared],
      ),
    )
    expect(await rig.value('select state from holdfast_internal.endpoints where name = $1', [spared])).toBe(
      'active',
    )
    await node.holdfast.settings.reset('rejecting_threshold')
  })

  it('critical_resend_cron changes the schedule of the leading node, and takes it away', async () => {
    const task = async () =>
      (await node.holdfast.maintenance.status()).tasks.find(({ name }) => name === 'critical-resend')
    await until('the task', task)
    await node.holdfast.settings.update({
      critical_resend_cron: '30 4 * * 1',
      critical_resend_timezone: 'Europe/Berlin',
    })
    const changed = await until('the new schedule', task, (each) =>
      JSON.stringify(each?.schedule).includes('30 4'),
    )
    expect(changed?.schedule).toEqual({ cron: '30 4 * * 1', timezone: 'Europe/Berlin' })
    expect(changed?.nextRunAt.getTime()).toBeGreaterThan(Date.now())
    await node.holdfast.settings.update({ critical_resend_cron: 'never' })
    await until('the task to be gone', async () => (await task()) === undefined)
    await node.holdfast.settings.update({ critical_resend_cron: null, critical_resend_timezone: null })
    await until('the task to be back', task)
  })

  it('defaults are what new endpoints get that say nothing themselves', async () => {
    await node.holdfast.settings.set('defaults', {
      retry: { maxRetries: 2 },
      circuit: { threshold: 7 },
      limits: { concurrency: 3 },
    })
    const plain = await node.holdfast.endpoints.create({ name: 'plain', transport: 'function' })
    expect(plain).toMatchObject({
      retry: { maxRetries: 2, baseDelayMs: 10_000 },
      circuit: { threshold: 7, cooldownMs: 30_000 },
      limits: { concurrency: 3, maxPending: 100_000 },
    })
    const chosen = await node.holdfast.endpoints.create({
      name: 'chosen',
      transport: 'function',
      preset: 'must-deliver',
      limits: { concurrency: 9 },
    })
    expect(chosen).toMatchObject({
      retry: { maxRetries: 20 },
      circuit: { threshold: 20 },
      limits: { concurrency: 9 },
    })
    // What came from the site goes with the preset.
    expect(await node.holdfast.endpoints.update('plain', { preset: 'must-deliver' })).toMatchObject({
      retry: { maxRetries: 20 },
      circuit: { threshold: 20 },
    })
    await node.holdfast.settings.reset('defaults')
    expect(await node.holdfast.endpoints.get('chosen')).toMatchObject({ limits: { concurrency: 9 } })
  })
})
