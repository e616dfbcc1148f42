import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Delivery } from '../../../src/engine/delivery.ts'
import type { Lane } from '../../../src/engine/lane.ts'
import { Renderer } from '../../../src/engine/renderer.ts'
import { ShapeTable } from '../../../src/engine/shape-table.ts'
import { Database } from '../../../src/storage/database.ts'
import type { DeliveryRow } from '../../../src/storage/read-deliveries.ts'
import { createTransformRegistry } from '../../../src/transforms/registry.ts'
import type { TransformInput, TransformResult } from '../../../src/transforms/transform.ts'
import { Rig } from '../../support/engine/rig.ts'

describe('renderings', () => {
  let rig: Rig
  let routeIds: number[]
  const inputs: TransformInput[] = []
  const waiting: (() => void)[] = []
  let isSlow = false

  const rendered = (input: TransformInput): TransformResult => ({
    ok: true,
    rendered: { body: `"${input.messageId}"`, contentType: 'application/json', headers: {} },
  })
  const spy = createTransformRegistry([
    {
      name: 'spy',
      compile: () => ({
        isCacheable: true,
        render: (input) => {
          inputs.push(input)
          if (!isSlow) return rendered(input)
          return new Promise((resolve) => waiting.push(() => resolve(rendered(input))))
        },
        renderBatch: (batch) => rendered(batch[0]!),
        close: async () => {},
      }),
    },
  ])

  beforeAll(async () => {
    rig = await Rig.create()
    const holdfast = rig.client()
    await holdfast.endpoints.create({ name: 'crm', transport: 'function' })
    for (const name of ['one', 'two']) {
      await holdfast.routes.create({ name, eventType: 'a', endpoint: 'crm' })
    }
    await rig.rows(`update holdfast_internal.routes set transform = '{"type": "spy"}'`)
    routeIds = (await rig.rows<{ id: number }>('select id from holdfast_internal.routes order by id')).map(
      ({ id }) => id,
    )
  })
  afterAll(() => rig.stop())

  function openRenderer() {
    inputs.length = 0
    const database = new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 5000 })
    const shapes = new ShapeTable({ database, transforms: spy, keyring: null })
    return { renderer: new Renderer(shapes), shapes }
  }

  function delivery(id: number, messageId: number, routeId: number, variant = 0): Delivery {
    const row: DeliveryRow = [
      id,
      1,
      0,
      1,
      messageId,
      routeId,
      0,
      0,
      1,
      null,
      null,
      null,
      null,
      true,
      variant,
      null,
    ]
    return new Delivery({ name: 'crm' } as Lane, row, {
      body: '1',
      createdAtMs: 0,
      rest: ['a', null, null, false, null, null],
    })
  }

  it('of one message and transform are computed once for all routes and recipients', async () => {
    const { renderer } = openRenderer()
    isSlow = false
    for (const id of [1, 2, 3, 4]) await renderer.render(delivery(id, 1, routeIds[id % 2]!), 0)
    expect(inputs).toHaveLength(1)
    await renderer.render(delivery(5, 5, routeIds[0]!), 0)
    expect(inputs).toHaveLength(2)
  })

  it('that are slow are shared by concurrent callers', async () => {
    const { renderer, shapes } = openRenderer()
    isSlow = true
    await shapes.load(new Set(routeIds), new Set())
    const asked = [1, 2, 3].map(async (id) => renderer.render(delivery(id, 1, routeIds[0]!), 0))
    expect(inputs).toHaveLength(1)
    for (const finish of waiting.splice(0)) finish()
    const bodies = (await Promise.all(asked)).map((result) => result.ok && result.rendering?.body)
    expect(new Set(bodies)).toEqual(new Set(['"msg_00000000001"']))
  })

  it('are not shared between ways that show different ids', async () => {
    const { renderer } = openRenderer()
    isSlow = false
    const first = await renderer.render(delivery(1, 1, routeIds[0]!), 0)
    const second = await renderer.render(delivery(2, 1, routeIds[0]!, 1), 0)
    expect([first, second].map((result) => result.ok && result.rendering?.body)).toEqual([
      '"msg_00000000001"',
      '"msg_00000000001.1"',
    ])
  })

  it('use the route as it is after a change, also when the change comes while it is being read', async () => {
    const { shapes } = openRenderer()
    const reading = shapes.load(new Set(routeIds), new Set())
    const changed = rig.rows(`update holdfast_internal.routes set transform = null where id = $1`, [
      routeIds[0],
    ])
    // The node is told of the change before it has the answer to what it asked earlier.
    shapes.forgetRoute(routeIds[0]!)
    await changed
    shapes.forgetRoute(routeIds[0]!)
    await reading
    await shapes.load(new Set(routeIds), new Set())
    expect(shapes.shapeOf(routeIds[0]!)).toEqual({ kind: 'raw' })
    expect(shapes.shapeOf(987_654)).toBeUndefined()
    await shapes.load(new Set([987_654]), new Set())
    expect(shapes.shapeOf(987_654)).toEqual({ kind: 'deleted' })
  })

  it('refuse a batch whose messages no longer share a transform, so that it is cut', async () => {
    const { renderer, shapes } = openRenderer()
    await rig.rows(
      `update holdfast_internal.routes set transform = case when id = $1 then '{"type": "spy"}'::jsonb end`,
      [routeIds[0]],
    )
    await shapes.load(new Set(routeIds), new Set())
    const result = await renderer.renderBatch([delivery(1, 1, routeIds[0]!), delivery(2, 2, routeIds[1]!)], 0)
    expect(result).toMatchObject({ ok: false, error: { code: 'transform_mixed' } })
  })
})
