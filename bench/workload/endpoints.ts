import type { Holdfast } from '../../dist/index.js'
import { forEachConcurrently } from '../contenders/contender.ts'

/** More than any row sends, so that no measurement reaches the limit. */
export const MAX_PENDING = 10_000_000

/** The handler of all endpoints of a row. */
export const HANDLER = 'bench'

const CREATING_CONNECTIONS = 6

export function endpointNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `endpoint-${index}`)
}

/** Creates endpoints with default settings, except the limit on pending deliveries. */
export async function createEndpoints(holdfast: Holdfast, names: readonly string[]): Promise<void> {
  await forEachConcurrently(names, CREATING_CONNECTIONS, async (name) => {
    await holdfast.endpoints.create({
      name,
      transport: 'function',
      config: { handler: HANDLER },
      limits: { maxPending: MAX_PENDING },
    })
  })
}
