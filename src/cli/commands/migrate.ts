import type { Command } from 'commander'
import { migrate } from '../../postgres/migrate.ts'
import { findPendingChanges, type PendingChanges } from '../../postgres/pending-changes.ts'
import { withDatabase } from '../connection/with-database.ts'
import { exitCode } from '../output/exit-code.ts'
import { findDatabase } from '../process/find-database.ts'
import { openSession, type Session } from '../process/session.ts'

export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description("migrate the database's schema; safe while nodes run, and from several processes at once")
    .option(
      '--check',
      'change nothing: list what a migration would change; exit code 1 when there is something',
    )
    .action(async ({ check }: { check?: boolean }, command: Command) => {
      const session = await openSession(command)
      const { url } = await findDatabase(session)
      if (check === true) return checkSchema(session, url)
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

async function checkSchema(session: Session, url: string): Promise<void> {
  const pending = await withDatabase(url, ({ pool }) => findPendingChanges(pool))
  session.output.data(pending, () => describePending(pending))
  if (!pending.isUpToDate) process.exitCode = exitCode.failure
}

function describePending(pending: PendingChanges): string {
  if (pending.isUpToDate) return `The schema is up to date (${pending.schemaNumber}).`
  const state =
    pending.schemaNumber === 0
      ? 'The database has no Holdfast schema yet.'
      : `The schema is at ${pending.schemaNumber}, this version needs ${pending.targetNumber}.`
  return [
    ...pending.tables.map((name) => `apply ${name}`),
    ...pending.created.map((name) => `create ${name}`),
    ...pending.replaced.map((name) => `replace ${name}`),
    ...pending.dropped.map((name) => `drop ${name}`),
    `${state} Run: holdfast migrate`,
  ].join('\n')
}
