import { hostname } from 'node:os'
import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { version } from '../../version.ts'
import { applySettings, createNode, runNode, watchStopSignals } from '../run-node.ts'
import { openSession } from '../session.ts'

interface ServeFlags {
  readonly migrate?: boolean
  readonly nodeName?: string
}

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('run a node on your PostgreSQL, for production')
    .option('--migrate', "bring the database's schema up to date first")
    .option('--node-name <name>', 'how this node is called in the list of nodes (default: the host name)')
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
      const holdfast = createNode(session, { databaseUrl, nodeName })
      await runNode(session, stopped, {
        holdfast,
        prepare: async () => {
          if (flags.migrate === true) {
            const applied = await holdfast.migrate()
            if (applied.length > 0) session.logger.info({ applied }, 'The schema was migrated')
          }
          await applySettings(session, databaseUrl)
        },
        onReady: () => session.logger.info({ node: nodeName, version }, 'The node delivers'),
      })
      session.logger.info({ node: nodeName }, 'The node has stopped')
    })
}
