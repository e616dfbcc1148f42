import { Redis } from 'ioredis'

const SCAN_COUNT = 1000

export async function redisVersion(redisUrl: string): Promise<string | undefined> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1]
  } catch {
    return undefined
  } finally {
    redis.disconnect()
  }
}

/** The durability of the Redis server, for the report: a memory-only server has an advantage that readers must know. */
export async function redisPersistence(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl)
  try {
    const persistence = await redis.info('persistence')
    const appendOnly = /aof_enabled:1/.test(persistence)
    return appendOnly ? 'append-only file' : 'memory only, no append-only file'
  } finally {
    redis.disconnect()
  }
}

export async function deleteRedisKeys(redisUrl: string, prefix: string): Promise<void> {
  const redis = new Redis(redisUrl)
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: SCAN_COUNT })) {
      const batch = keys as string[]
      if (batch.length > 0) await redis.unlink(...batch)
    }
  } finally {
    redis.disconnect()
  }
}
