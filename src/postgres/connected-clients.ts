import type { Pool } from 'pg'

const connected = new WeakMap<Pool, Set<object>>()

/** Lets `connectedCount` count the pool's clients that have a connection; pg-pool also counts those that are still connecting. */
export function noteConnected(pool: Pool): void {
  const clients = new Set<object>()
  connected.set(pool, clients)
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
}

export function connectedCount(pool: Pool): number {
  return connected.get(pool)?.size ?? pool.totalCount
}
