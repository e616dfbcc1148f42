import { describe, expect, it } from 'vitest'
import type { Delivery } from './delivery.ts'
import { Renderer } from './renderer.ts'
import type { Shape, ShapeTable } from './shape-table.ts'

const raw: Shape = { kind: 'raw' }

/** Shapes whose route is forgotten, as after a change, whenever a payload's schema has been looked up. */
function forgetfulShapes() {
  const routes = new Map<number, Shape>([[7, raw]])
  let loads = 0
  const table = {
    shapeOf: (routeId: number | null) => (routeId === null ? raw : routes.get(routeId)),
    schemaOf: () => {
      queueMicrotask(() => routes.delete(7))
      return { type: 'object' }
    },
    load: async () => {
      loads += 1
      routes.set(7, raw)
    },
  }
  return { table: table as unknown as ShapeTable, loads: () => loads }
}

const delivery = {
  routeId: 7,
  needsCheck: true,
  eventType: 'order.created',
  storedBody: '{"id": 1}',
} as unknown as Delivery

describe('a route that changes while a payload is checked against its schema', () => {
  it('is loaded anew, and the message goes out', async () => {
    const { table, loads } = forgetfulShapes()
    expect(await new Renderer(table).render(delivery, 0)).toEqual({ ok: true, rendering: null })
    expect(loads()).toBe(1)
  })
})
