import { readSchemaNumber } from '../postgres/schema.ts'
import type { Database } from '../storage/database.ts'
import { readLeader } from '../storage/maintenance-tasks.ts'
import { type NodeShare, readNodeShares } from '../storage/nodes.ts'
import { readDatabaseBytes, readServer, readTables, type TableRow } from '../storage/server.ts'
import { version } from '../version.ts'
import { type Finding, runChecks } from './checks/check.ts'
import { aliveWithinMs, checkMigrations, schemaChecks } from './checks/schema-checks.ts'
import { serverChecks } from './checks/server-checks.ts'
import { onDatabase } from './page.ts'

export interface SystemNode extends Omit<NodeShare, 'isStopping' | 'sinceBeatMs'> {
  readonly state: 'alive' | 'stopping' | 'lost'
  /** Whether the node runs the maintenance tasks. */
  readonly isLeader: boolean
}

export interface SystemStatus {
  readonly version: string
  /** The number of the last table migration. */
  readonly schema: number
  readonly nodes: readonly SystemNode[]
  /** Of 256 shards; other nodes take over the shards of a lost node within seconds. */
  readonly ownedShards: number
  readonly database: {
    readonly version: string
    readonly startedAt: Date
    readonly bytes: number
    readonly connections: number
    readonly maxConnections: number
    readonly hasFsync: boolean
    readonly synchronousCommit: string
  }
}

/** The health of the installation and its database. */
export class System {
  readonly #options: { readonly database: () => Database }

  constructor(options: { readonly database: () => Database }) {
    this.#options = options
  }

  async status(): Promise<SystemStatus> {
    return onDatabase(this.#options.database(), async (database) => {
      const [server, bytes, shares, leader, schema] = await Promise.all([
        readServer(database),
        readDatabaseBytes(database),
        readNodeShares(database),
        readLeader(database),
        readSchemaNumber(database.pool),
      ])
      const { versionNumber: _, isRecovering: __, ...facts } = server
      const nodes = shares.map(({ isStopping, sinceBeatMs, ...node }) => ({
        ...node,
        state:
          sinceBeatMs > aliveWithinMs
            ? ('lost' as const)
            : isStopping
              ? ('stopping' as const)
              : ('alive' as const),
        isLeader: node.incarnation === leader.incarnation,
      }))
      const ownedShards = nodes.reduce((sum, { state, shards }) => sum + (state === 'lost' ? 0 : shards), 0)
      return { version, schema, nodes, ownedShards, database: { ...facts, bytes } }
    })
  }

  /** Tables and partitions with their sizes, sorted by name. */
  async tables(
    page: { readonly afterName?: string | undefined; readonly limit?: number } = {},
  ): Promise<TableRow[]> {
    return onDatabase(this.#options.database(), (database) =>
      readTables(database, page.afterName ?? '', page.limit ?? 100),
    )
  }

  /** The checks that `holdfast doctor` makes in the database. */
  async checks(): Promise<Finding[]> {
    return onDatabase(this.#options.database(), async (database) => {
      // If the database is unavailable, report that instead of nine failed checks.
      await readServer(database)
      return runChecks([
        ...serverChecks(database),
        ['migrations', () => checkMigrations(database)],
        ...schemaChecks(database),
      ])
    })
  }
}
