import { HoldfastError } from '../../core/errors.ts'
import { attempt, type Check, type Finding, fail, ok, runChecks } from '../../sdk/checks/check.ts'
import { checkMigrations, schemaChecks } from '../../sdk/checks/schema-checks.ts'
import { serverChecks } from '../../sdk/checks/server-checks.ts'
import type { Database } from '../../storage/database.ts'
import { readServer } from '../../storage/server.ts'
import { translateError } from '../../storage/translate-error.ts'
import { withDatabase } from '../connection/with-database.ts'
import { findDatabase } from '../process/find-database.ts'
import type { Session } from '../process/session.ts'
import { checkDisk } from './disk-check.ts'
import { checkListen } from './listen-check.ts'
import { checkSecrets } from './secrets-check.ts'

/** Runs all checks that are possible; those that need the database or the schema are skipped while it is missing. */
export async function examine(session: Session): Promise<Finding[]> {
  const found = await findDatabase(session).catch((error: unknown) => {
    if (error instanceof HoldfastError) return error
    throw error
  })
  if (found instanceof HoldfastError) return [fail('database', 'no database was found', found.message)]
  return withDatabase(found.url, async (database) => {
    const connected = await connect(database, found.isEmbedded)
    if (connected.verdict === 'fail') return [connected]
    const findings = [
      connected,
      ...(await runChecks([...serverChecks(database), ['listen', () => checkListen(found.url)]])),
    ]
    const migrations = await attempt('migrations', () => checkMigrations(database))
    findings.push(migrations)
    if (migrations.verdict === 'ok') {
      const checks: readonly Check[] = [
        ...schemaChecks(database),
        ['secrets', () => checkSecrets(session, database, found.isEmbedded)],
      ]
      findings.push(...(await runChecks(checks)))
    }
    if (found.isEmbedded) findings.push(await attempt('disk', () => checkDisk(session.config.dataDir)))
    return findings
  })
}

async function connect(database: Database, isEmbedded: boolean): Promise<Finding> {
  try {
    await readServer(database)
  } catch (error) {
    const explained = translateError(error)
    const message = explained instanceof Error ? explained.message : String(explained)
    return fail(
      'database',
      message,
      'Check the address, the user and the password, and that the server is up.',
    )
  }
  return ok('database', isEmbedded ? 'the embedded server answers' : 'the server answers')
}
