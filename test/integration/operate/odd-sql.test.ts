import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRole } from '../../support/database-role.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'
import { SeededRandom } from '../../torture/seeded-random.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? 1)
const callsPerFunction = Number(process.env['FUZZ_CALLS'] ?? 40)

const texts = [
  '',
  'x',
  'crm',
  'msg_00000000000',
  'dlv_zzzzzzzzzzz',
  'op_00000000001',
  '%',
  "a'b",
  'é'.repeat(300),
  'infinity',
  'paused',
  'failed',
  '0000-01-01',
]
const documents = [
  'null',
  '{}',
  '[]',
  '1',
  '"x"',
  '1e400',
  '{"a": 1}',
  '[null]',
  '[[]]',
  '[{}]',
  '[{"type": "a"}]',
  '{"deliverAt": "0000-01-01T00:00:00Z"}',
  '{"deliverAt": "infinity"}',
  '{"expiresAt": "999999-01-01"}',
  '{"priority": 1e30}',
  '{"delayMs": 1e308}',
  '{"delayMs": -1}',
  '{"idempotencyKey": ""}',
  '{"headers": []}',
  '{"tags": [1]}',
  '{"type": null}',
  '{"ttlMs": 1e300, "worker": "w"}',
  '{"correlationId": ""}',
  '{"url": "https://x.example", "timeoutMs": 1e300}',
  '{"limits": {"ratePerSecond": 1e300}}',
  '{"limits": null}',
  '{"eventTypes": [null]}',
  '{"eventTypes": ["a.**.*.b"]}',
  '{"config": {"headers": {"": ""}}}',
  '{"config": null}',
  '{"batch": {"maxMessages": 1}}',
  '{"preset": null}',
  '{"queue": "A b"}',
  '{"timeoutMs": "soon"}',
]
const oddValues: Readonly<Record<string, readonly unknown[]>> = {
  text: [null, ...texts],
  jsonb: [null, ...documents],
  integer: [null, 0, 1, -1, 2147483647],
  bigint: [null, '0', '-1', '9223372036854775807'],
  'double precision': [null, 0, -1, 'NaN', 'Infinity', 1e308, 1e-308],
  boolean: [null, true, false],
  'timestamp with time zone': [null, 'infinity', '-infinity', '0001-01-01', '4713-01-01 BC', '294276-12-31'],
  'jsonb[]': [null, '{}', '{null}', '{"1","2"}', '{"null"}'],
  'text[]': [null, '{}', '{null}', '{a}'],
}

/** Errors of ours, of values that PostgreSQL itself can't read, and of a full queue. Any other is a check that is missing. */
const expected = /^(?:HF\d\d\d|22023|22P02|22007|22008|22003|53400)$/
/** Partitions for 2,147,483,647 months would be made; rights belong to another test. */
const leftOut = /^(?:grant_\w+|revoke_access|maintain_partitions|drop_old_partitions)$/

describe(`functions for users, given odd values (seed ${seed})`, () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await Rig.create()
    await rig.rows(
      `select holdfast.create_endpoint('crm', '{}', '{"transport": "function", "eventTypes": ["order.*"]}')`,
    )
  })
  afterAll(() => rig.stop())

  it('do what they are asked to do, or report the problem', async () => {
    const random = new SeededRandom(seed)
    const functions = await rig.rows<{ name: string; types: string[] }>(
      `select proname as name, array(select format_type(type, null) from unnest(proargtypes) with ordinality as each (type, place) order by place) as types
       from pg_proc where pronamespace = 'holdfast'::regnamespace order by 1, 2`,
    )
    const findings = new Set<string>()
    const client = await rig.database.pool.connect()
    try {
      for (const { name, types } of functions) {
        if (leftOut.test(name)) continue
        for (let call = 0; call < callsPerFunction; call += 1) {
          const values = types.map((type) => {
            const choices = oddValues[type]
            if (choices === undefined) throw new Error(`no odd values of type ${type}, which ${name} takes`)
            return random.pick(choices)
          })
          const parameters = types.map((type, place) => `$${place + 1}::${type}`).join(', ')
          await client.query('begin')
          await client
            .query(`select * from holdfast.${name}(${parameters})`, values)
            .catch((error: Error & { code: string }) => {
              if (!expected.test(error.code))
                findings.add(`${name}(${JSON.stringify(values)}): ${error.code} ${error.message}`)
            })
          await client.query('rollback')
        }
      }
    } finally {
      client.release()
    }
    expect([...findings]).toEqual([])
  }, 120_000)

  it.each([
    [`replay_range('crm', '2030-01-01', '2030-01-01')`, 'the time range is empty'],
    [`replay_range('crm', '2030-01-02', '2030-01-01')`, 'the time range is empty'],
    ['redrive_all(1e308)', 'the rate must be above 0 and at most 1000000 rows per second, not 1e+308'],
    ['maintain_partitions(null)', 'months_ahead must be between 0 and 120, not null'],
    ['cleanup_dlq(-1)', 'max_rows must be 0 or more, not -1'],
    ['cleanup_dlq(null)', 'max_rows must be 0 or more, not null'],
    [`endpoint_metrics('{}', -1)`, 'top must be 0 or more, not -1'],
    [`enqueue('odd', '1', '{"uniqueForMs": 5}')`, 'uniqueForMs requires a uniqueKey'],
  ])('say what is wrong with %s', async (call, problem) => {
    await expect(rig.rows(`select holdfast.${call}`)).rejects.toThrow(problem)
  })

  it.each([
    '5:1:@1',
    '1:5:@1.2.3',
    '1:5:@99999999999999999999999',
    '99999999999999999999:99999999999999999999:@1',
    '1:18446744073709551615:@1',
    '1:999999999999999:@1',
  ])('refuse a preview as of %s, which no preview returned', async (asOf) => {
    await expect(
      rig.rows(`select holdfast_internal.preview_operation_v2('redrive', '{}', '{"all": true}', $1)`, [asOf]),
    ).rejects.toThrow('asOf must be the value that a preview returned')
  })

  it('advise a statement that lists the endpoints', async () => {
    const error = await rig.rows(`select holdfast.update_endpoint('nowhere', '{}')`).catch((thrown) => thrown)
    const [statement = ''] = /select .*/.exec(error.hint) ?? []
    expect(await rig.rows(statement)).toContainEqual({ endpoint: 'crm' })
  })

  it('replay everything between the ends of time', async () => {
    const holdfast = rig.client()
    const name = await functionEndpoint(holdfast, () => undefined)
    const operation = await rig.value<string>(`select holdfast.replay_range($1, '-infinity', 'infinity')`, [
      name,
    ])
    expect(operation).toMatch(/^op_/)
  })

  it('let no application store a job that the upkeep of all jobs stumbles over', async () => {
    const app = await createRole(rig.database, { kind: 'app' })
    try {
      await rig.rows(`select holdfast.grant_app('${app.name}')`)
      for (const settings of [
        '{"timeoutMs": "soon"}',
        '{"maxCrashes": "many"}',
        '{"retry": 1}',
        '[]',
        'null',
        '{"queue": "No Such"}',
      ]) {
        await expect(
          app.pool.query(`select holdfast.declare_job('odd', $1)`, [settings]),
          settings,
        ).rejects.toMatchObject({
          code: 'HF032',
          message: expect.stringContaining('the job is invalid: '),
        })
      }
      await app.pool.query(
        `select holdfast.declare_job('fine', '{"timeoutMs": 1000, "ofANewerVersion": true}')`,
      )
      await rig.rows('select holdfast_internal.sweep_zombies_v3(null, 10, 1)')
    } finally {
      await app.drop()
    }
  })

  it('name the session when no actor is given', async () => {
    await rig.rows(
      `select holdfast.set_setting('max_pending', '5', null), holdfast.set_setting('max_pending', null, null)`,
    )
    const [entry] = await rig.rows(
      `select actor = session_user as is_ours from holdfast.audit_log where subject = 'setting:max_pending' order by id limit 1`,
    )
    expect(entry).toEqual({ is_ours: true })
  })
})
