import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { DatabaseServer } from './database-server.ts'
import type { Options } from './options.ts'
import { redisPersistence, redisVersion } from './redis-keys.ts'

/** The machine of a measurement. */
export interface Machine {
  cpu: string
  cores: number
  memoryGiB: number
  node: string
  postgres: string
  postgresSettings: Record<string, string>
}

export interface Environment extends Machine {
  redis: string
  packages: Record<string, string>
}

const PACKAGES = [
  'graphile-worker',
  'graphile-worker-0.18',
  'pg-boss',
  'pg-boss-12',
  'bullmq',
  'ioredis',
  'pg',
  'undici',
]

export function describeMachine(server: DatabaseServer): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    postgres: server.version,
    postgresSettings: server.settings,
  }
}

export async function describeEnvironment(server: DatabaseServer, options: Options): Promise<Environment> {
  const redis = await redisVersion(options.redisUrl)
  return {
    ...describeMachine(server),
    ...(options.nodePath !== undefined && { node: versionIn('../node_modules/node-24/package.json') }),
    redis: redis === undefined ? 'none' : `${redis} (${await redisPersistence(options.redisUrl)})`,
    packages: {
      holdfast: versionIn('../../package.json'),
      ...Object.fromEntries(
        PACKAGES.map((name) => [name, versionIn(`../node_modules/${name}/package.json`)]),
      ),
    },
  }
}

function versionIn(relativePath: string): string {
  const manifest = JSON.parse(readFileSync(new URL(relativePath, import.meta.url), 'utf8')) as {
    version: string
  }
  return manifest.version
}
