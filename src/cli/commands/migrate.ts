import type { Command } from 'commander'
import { migrate } from '../../postgres/migrate.ts'
import { findDatabase } from '../process/find-database.ts'
import { openSession } from '../process/session.ts'

export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description("migrate the database's schema; safe while nodes run, and from several processes at once")
    .action(async (_options: unknown, command: Command) => {
      const session = await openSession(command)
      const { url } = await findDatabase(session)
      const result = await migrate(url, { logger: session.logger })
      session.output.data(result, () =>
        result.applied.length + result.sources.length === 0
          ? `The schema is up to date (${result.schemaNumber}).`
          : [
              ...result.applied.map((name) => `applied ${name}`),
              `replaced ${result.sources.length} functions, views and triggers`,
              `The schema is at ${result.schemaNumber}.`,
            ].join('\n'),
      )
    })
}
