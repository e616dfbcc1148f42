import type { Holdfast } from '../../dist/index.js'
import { forEachConcurrently } from '../contenders/contender.ts'

/** More than any row sends: what is measured is never the bound. */
export const MAX_PENDING = 10_000_000

/** The one handler of all endpoints of a row. */
export const HANDLER = 'bench'

const CREATING_CONNECTIONS = 6

export function endpointNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `endpoint-${index}`)
}

/** Endpoints with the defaults of a user, but for the bound on what may wait. */
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
