import { HoldfastError } from '../../core/errors.ts'
import type { Database } from '../../storage/database.ts'
import { translateError } from '../../storage/translate-error.ts'
import { findDatabase } from '../process/find-database.ts'
import type { Session } from '../process/session.ts'
import { readServer } from '../queries/read-server.ts'
import { withDatabase } from '../queries/with-database.ts'
import { attempt, type Finding, fail, ok } from './check.ts'
import { checkDisk } from './disk-check.ts'
import { checkLanes, checkMigrations, checkNodes, checkPartitions, checkQuarantine } from './schema-checks.ts'
import { checkSecrets } from './secrets-check.ts'
import { checkClock, checkDurability, checkListen, checkRights, checkServer } from './server-checks.ts'

type Check = readonly [name: string, look: () => Promise<Finding>]

/** Looks at everything that can be looked at; what needs the database or the schema is left out until that is there. */
export async function examine(session: Session): Promise<Finding[]> {
  const found = await findDatabase(session).catch((error: unknown) => {
    if (error instanceof HoldfastError) return error
    throw error
  })
  if (found instanceof HoldfastError) return [fail('database', 'there is none to look at', found.message)]
  return withDatabase(found.url, async (database) => {
    const connected = await connect(database, found.isEmbedded)
    if (connected.verdict === 'fail') return [connected]
    const findings = [
      connected,
      ...(await runChecks([
        ['server', () => checkServer(database)],
        ['durability', () => checkDurability(database)],
        ['rights', () => checkRights(database)],
        ['clock', () => checkClock(database)],
        ['listen', () => checkListen(found.url)],
      ])),
    ]
    const migrations = await attempt('migrations', () => checkMigrations(database))
    findings.push(migrations)
    if (migrations.verdict === 'ok') {
      const checks: readonly Check[] = [
        ['partitions', () => checkPartitions(database)],
        ['nodes', () => checkNodes(database)],
        ['endpoints', () => checkLanes(database)],
        ['quarantine', () => checkQuarantine(database)],
        ['secrets', () => checkSecrets(session, database, found.isEmbedded)],
      ]
      findings.push(...(await runChecks(checks)))
    }
    if (found.isEmbedded) findings.push(await attempt('disk', () => checkDisk(session.config.dataDir)))
    return findings
  })
}

async function runChecks(checks: readonly Check[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, look] of checks) findings.push(await attempt(name, look))
  return findings
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
