import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/postgres/embedded/start-embedded-postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server on which tests may create databases, with the rights of a superuser. */
    databaseUrl: string
  }
}

interface SharedServer {
  readonly url: Promise<string>
  stop(): Promise<void>
  users: number
}

/** Each vitest project loads this file anew; what they share hangs on the process. */
const shared = globalThis as { holdfastTestServer?: SharedServer }

function startServer(): SharedServer {
  const folder = mkdtemp(join(tmpdir(), 'holdfast-test-server-'))
  const server = folder.then((dataDir) =>
    startEmbeddedPostgres({
      dataDir,
      // Tests kill processes, never the machine, and what a process wrote outlives it without fsync.
      settings: { fsync: 'off', max_connections: '200', min_wal_size: '80MB' },
    }),
  )
  return {
    url: server.then(({ connectionString }) => connectionString),
    stop: async () => {
      await (await server).stop()
      await rm(await folder, { recursive: true, force: true })
    },
    users: 0,
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const externalUrl = process.env['HOLDFAST_TEST_DATABASE_URL']
  if (externalUrl !== undefined && externalUrl !== '') {
    project.provide('databaseUrl', externalUrl)
    return undefined
  }
  const server = (shared.holdfastTestServer ??= startServer())
  server.users += 1
  project.provide('databaseUrl', await server.url)
  return async () => {
    server.users -= 1
    if (server.users > 0) return
    delete shared.holdfastTestServer
    await server.stop()
  }
}
