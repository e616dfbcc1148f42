import { hostname } from 'node:os'
import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import { hasAdminKey } from '../../storage/api-keys.ts'
import { version } from '../../version.ts'
import { createFirstAdminKey } from '../api/admin-key.ts'
import { type CreatedApi, createApiServer, createSignInUrl } from '../api/create-api-server.ts'
import { isTerminal } from '../output/paint.ts'
import { createNode, runNode, setOption, watchStopSignals } from '../process/run-node.ts'
import { openSession, type Session } from '../process/session.ts'

interface ServeFlags {
  readonly migrate?: boolean
  readonly nodeName?: string
}

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('run a node on your PostgreSQL, for production')
    .option('--migrate', "migrate the database's schema first")
    .option('--host <address>', 'where the API listens (HOLDFAST_HOST, default 127.0.0.1)')
    .option('--port <number>', 'where the API listens (HOLDFAST_PORT, default 8420)')
    .option(...setOption)
    .option('--node-name <name>', 'the name in the list of nodes (default: the host name)')
    .action(async (flags: ServeFlags, command: Command) => {
      const session = await openSession(command)
      const stopped = watchStopSignals(session)
      const { databaseUrl } = session.config
      if (databaseUrl === null) {
        throw new HoldfastError(
          'configuration_invalid',
          '`holdfast serve` needs a PostgreSQL: set HOLDFAST_DATABASE_URL=postgres://user:password@host:5432/database. ' +
            'To try Holdfast without one, run: holdfast dev',
        )
      }
      const nodeName = flags.nodeName ?? hostname()
      const { encryptionKey } = session.config
      const holdfast = createNode(session, { databaseUrl, nodeName, encryptionKey })
      const api = createApiServer(session, holdfast)
      await runNode(session, stopped, {
        databaseUrl,
        holdfast,
        api: api.server,
        prepare: async () => {
          if (flags.migrate === true) {
            const applied = await holdfast.migrate()
            if (applied.length > 0) session.logger.info({ applied }, 'The schema was migrated')
          }
        },
        onReady: async () => {
          await announceFirstKey(session, holdfast, api)
          session.logger.info({ node: nodeName, version, api: api.server.url }, 'The node delivers')
        },
      })
      session.logger.info({ node: nodeName }, 'The node has stopped')
    })
}

/** Creates an admin key if the database has none, and shows it once, on a terminal only: logs are stored, so no secret is written to a log. */
async function announceFirstKey(session: Session, holdfast: Holdfast, api: CreatedApi): Promise<void> {
  if (session.config.adminKey !== null) return
  if (!isTerminal(process.stderr)) {
    if (await hasAdminKey(holdfast.database)) return
    session.logger.warn(
      `This database has no admin key, so signing in is impossible. Create one where this process runs with: ${session.prefix} api-keys create --local ` +
        '(in a container: docker exec <container> holdfast api-keys create --local), or set HOLDFAST_ADMIN_KEY',
    )
    return
  }
  const key = await createFirstAdminKey(holdfast)
  if (key === null) return
  session.output.message(
    `The first admin key of this database, shown only once: ${key}\n` +
      `Sign in at ${await createSignInUrl(api)} (the link works once), or use the key as HOLDFAST_API_KEY. Replace a lost key with: ${session.prefix} api-keys create --local`,
  )
}
