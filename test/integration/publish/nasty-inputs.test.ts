import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'

/** The rows of a table in the docs, as the code in their cells. */
function tableRows(): [call: string, outcome: string, stored: string][] {
  const page = readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8')
  const lines = page.split('<!-- table: publish -->\n')[1]!.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('|'))
  return lines.slice(2, end === -1 ? undefined : end).map((line) => {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1)
    const [call = '', outcome = '', stored = ''] = cells.map((cell) =>
      cell.trim().replace(/^`|`$/g, '').replaceAll('\\|', '|'),
    )
    return [call, outcome, stored]
  })
}

describe('the table of nasty inputs for publishing', () => {
  let rig: Rig
  let holdfast: Holdfast

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
    await holdfast.endpoints.create({ name: 'crm', transport: 'function', eventTypes: ['order.*'] })
    await holdfast.eventTypes.put({ name: 'checked', schema: { required: ['id'] } })
  })
  afterAll(() => rig.stop())

  /** Everything that a refusal could have left behind. */
  const traces = () =>
    rig.value<string>(
      `select jsonb_build_array(
         (select count(*) from holdfast_internal.messages), (select count(*) from holdfast_internal.deliveries), (select count(*) from holdfast_internal.dead_letters),
         (select count(*) from holdfast_internal.idempotency_keys), (select jsonb_agg(to_jsonb(route) order by id) from holdfast_internal.routes as route),
         (select jsonb_agg(to_jsonb(type) order by name) from holdfast_internal.event_types as type), (select count(*) from holdfast_internal.audit_log),
         (select jsonb_agg(to_jsonb(endpoint)) from holdfast_internal.endpoints as endpoint))::text`,
    )

  /** A row is either SQL or what a program calls on a Holdfast. */
  async function run(call: string): Promise<unknown> {
    if (call.startsWith('select')) return rig.rows(call)
    const names = ['publish', 'publishBatch', 'routes', 'eventTypes', 'endpoints']
    const bound = [
      holdfast.publish.bind(holdfast),
      holdfast.publishBatch.bind(holdfast),
      holdfast.routes,
      holdfast.eventTypes,
      holdfast.endpoints,
    ]
    // oxlint-disable-next-line typescript/no-implied-eval -- The rows are our own docs, and what is checked is that they are true as they stand.
    return new Function(...names, `return ${call}`)(...bound) as unknown
  }

  async function outcomeOf(call: string): Promise<string> {
    const before = await traces()
    try {
      await run(call)
    } catch (error) {
      expect(await traces()).toBe(before)
      if (call.startsWith('select')) return (error as { code: string }).code
      return error instanceof HoldfastError ? error.code : `${String(error)} (not a HoldfastError)`
    }
    if (!/publish/.test(call)) return 'accepted'
    return (await rig.value<boolean>(
      'select is_unrouted from holdfast_internal.messages order by id desc limit 1',
    ))
      ? 'unrouted'
      : 'accepted'
  }

  it('has all its rows', () => {
    expect(tableRows().length).toBeGreaterThanOrEqual(100)
  })

  it.each(tableRows())('is true: %s → %s', async (call, outcome, stored) => {
    expect(await outcomeOf(call)).toBe(outcome)
    if (stored === '') return
    expect(
      await rig.value('select body::text from holdfast_internal.messages order by id desc limit 1'),
    ).toBe(stored)
  })
})
