import type { Pool } from 'pg'

const connected = new WeakMap<Pool, Set<object>>()

/** From now on `connectedCount` knows which of the pool's clients have a connection; pg-pool counts those that still wait for one, too. */
export function noteConnected(pool: Pool): void {
  const clients = new Set<object>()
  connected.set(pool, clients)
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
}

export function connectedCount(pool: Pool): number {
  return connected.get(pool)?.size ?? pool.totalCount
}
