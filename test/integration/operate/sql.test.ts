import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

const run = promisify(execFile)

function hasPsql(): boolean {
  try {
    execFileSync('psql', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** What an operator with nothing but psql at hand does. Without psql, the same statements through pg. */
describe(`an operator at the SQL prompt (${hasPsql() ? 'psql' : 'no psql here: pg'})`, () => {
  let rig: Rig
  let node: RunningNode
  let name: string
  const receiver = { isMended: false, taken: [] as unknown[] }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start()
    name = await functionEndpoint(
      node.holdfast,
      ({ payload }) => {
        if (!receiver.isMended) throw new PermanentError('no')
        receiver.taken.push(payload)
      },
      { circuit: { threshold: 1000 }, limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(
      name,
      [1, 2, 3, 4].map((n) => ({ payload: n })),
    )
    await rig.whenSettled(name)
    receiver.isMended = true
  })
  afterAll(() => rig.stop())

  /** Fields separated by `|`, rows by line breaks; an error is thrown with its SQLSTATE in the text. */
  async function sql(statement: string): Promise<string> {
    if (hasPsql()) {
      const flags = ['-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=sqlstate']
      const { stdout } = await run('psql', [...flags, '-c', statement, rig.database.url])
      return stdout.trim()
    }
    const client = new Client({ connectionString: rig.database.url, types: { getTypeParser: () => String } })
    await client.connect()
    try {
      const { rows } = await client.query<unknown[]>({ text: statement, rowMode: 'array' })
      return rows.map((row) => row.map((value) => (value === true ? 't' : value)).join('|')).join('\n')
    } catch (error) {
      throw new Error(`ERROR: ${(error as { code: string }).code}`, { cause: error })
    } finally {
      await client.end()
    }
  }

  const succeeded = (operation: string) =>
    until(
      `operation ${operation}`,
      () => node.holdfast.operations.get(operation),
      ({ state }) => state === 'succeeded',
    )

  it('sees the dead letters and the health of endpoints', async () => {
    expect(
      await sql(`select endpoint, dead, redriven, resolved, oldest <= newest from holdfast.dlq_summary()`),
    ).toBe(`${name}|4|0|0|t`)
    expect(
      await sql(`select endpoint, state, circuit, dead_letters from holdfast.endpoint_health('${name}')`),
    ).toBe(`${name}|active|closed|4`)
  })

  it('redrives one letter, inside a transaction of its own', async () => {
    const letter = await sql(
      `select holdfast.format_id('dlt', id) from holdfast_internal.dead_letters order by delivery_id limit 1`,
    )
    await sql(`begin; select holdfast.redrive_message('${letter}'); rollback`)
    expect((await node.holdfast.deadLetters.get(letter)).state).toBe('open')
    expect(await sql(`select holdfast.redrive_message('${letter}')`)).toMatch(/^dlv_[0-9a-z]{11}$/)
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual([1])
  })

  it('redrives an endpoint, and all', async () => {
    const operation = await sql(`select holdfast.redrive_endpoint('${name}')`)
    expect(operation).toMatch(/^op_[0-9a-z]{11}$/)
    expect(await succeeded(operation)).toMatchObject({ total: 3, done: 3 })
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual([1, 2, 3, 4])
    expect(await succeeded(await sql('select holdfast.redrive_all()'))).toMatchObject({ total: 0, done: 0 })
  })

  it('replays a message and a range', async () => {
    const message = await sql(`select holdfast.format_id('msg', min(id)) from holdfast_internal.messages`)
    expect(await sql(`select holdfast.replay_message('${message}')`)).toMatch(/^dlv_/)
    await rig.whenSettled(name)
    const operation = await sql(
      `select holdfast.replay_range('${name}', now() - interval '1 hour', now() + interval '1 hour', 'succeeded')`,
    )
    expect(await succeeded(operation)).toMatchObject({ kind: 'replay', total: 4, done: 4 })
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual([1, 2, 3, 4, 1, 1, 2, 3, 4])
  })

  it('runs the maintenance functions', async () => {
    expect(await sql('select holdfast.cleanup_dlq()')).toBe('0')
    await sql(`update holdfast_internal.dead_letters set settled_at = now() - interval '31 days'`)
    expect(await sql('select holdfast.cleanup_dlq()')).toBe('4')
    expect(await sql('select holdfast.maintain_partitions(3)')).toBe('0')
    expect(await sql('select holdfast.drop_old_partitions(6)')).toBe('0')
    expect(await sql(`select holdfast.reset_circuit_breaker('${name}')`)).toBe('t')
  })

  it.each([
    [`select holdfast.redrive_message('dlt_00000000001')`, 'HF008'],
    [`select holdfast.redrive_message('nonsense')`, '22023'],
    [`select holdfast.redrive_endpoint('nowhere')`, 'HF001'],
    [`select holdfast.replay_message('msg_00000000001')`, 'HF012'],
    [`select holdfast.replay_range('nowhere', now() - interval '1 s', now(), null)`, 'HF001'],
    [`select holdfast_internal.create_operation('redrive', '{}')`, 'HF007'],
    [`select holdfast_internal.create_operation('redrive', '{"colour": "red"}')`, 'HF007'],
    [`select holdfast_internal.create_operation('replay', '{"endpoint": "x"}')`, 'HF007'],
    [`select holdfast.steer_operation('op_00000000001', 'paused')`, 'HF010'],
    [`select holdfast.steer_operation('op_00000000001', 'pause')`, '22023'],
    [`select holdfast.steer_operation('op_00000000001', null)`, '22023'],
    [`select holdfast.set_endpoint_state('nowhere', null)`, '22023'],
    [`select holdfast.drop_old_partitions(0)`, '22023'],
  ])('is told what is wrong with %s', async (statement, state) => {
    await expect(sql(statement)).rejects.toThrow(state)
  })
})
