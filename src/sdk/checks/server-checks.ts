import { HoldfastError } from '../../core/errors.ts'
import { checkServerVersion } from '../../postgres/schema.ts'
import type { Database } from '../../storage/database.ts'
import { type Rights, readRights } from '../../storage/rights.ts'
import { readClock, readServer } from '../../storage/server.ts'
import { type Check, type Finding, fail, ok, warn } from './check.ts'

async function checkServer(database: Database): Promise<Finding> {
  const { version, versionNumber, isRecovering } = await readServer(database)
  try {
    checkServerVersion(versionNumber)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return fail('server', `PostgreSQL ${version} is too old`, error.message)
  }
  if (isRecovering) {
    return fail(
      'server',
      `PostgreSQL ${version} is a read-only standby`,
      'Use the primary in HOLDFAST_DATABASE_URL.',
    )
  }
  return ok('server', `PostgreSQL ${version}`)
}

async function checkDurability(database: Database): Promise<Finding> {
  const { hasFsync, synchronousCommit } = await readServer(database)
  if (!hasFsync) {
    return fail(
      'durability',
      'fsync is off: a crash of the machine can destroy the database',
      'Set fsync = on in postgresql.conf.',
    )
  }
  if (synchronousCommit === 'off') {
    return warn(
      'durability',
      'synchronous_commit is off: a crash may lose messages accepted in the last moments',
      'Set synchronous_commit = on for this role or server.',
    )
  }
  return ok('durability', `fsync on, synchronous_commit ${synchronousCommit}`)
}

async function checkRights(database: Database): Promise<Finding> {
  const rights = await readRights(database)
  const { role, hasSchema, canCreateSchema, ownsSchema, deniedTables, strangers } = rights
  if (!hasSchema) {
    return canCreateSchema
      ? ok('rights', `"${role}" may create the schema`)
      : fail(
          'rights',
          `"${role}" may not create the schema "holdfast"`,
          `As an administrator: grant create on database … to "${role}"; then: holdfast migrate`,
        )
  }
  if (deniedTables.length > 0) return refusedRights(rights)
  if (!ownsSchema) {
    return warn(
      'rights',
      `"${role}" may read and write Holdfast's tables but doesn't own them`,
      adviceFor(rights, `select holdfast.revoke_access(${quoted(role)}), `),
    )
  }
  const [stranger] = strangers
  if (stranger === undefined) return ok('rights', `"${role}" owns the schema`)
  return warn(
    'rights',
    `${strangers.map((name) => `"${name}"`).join(', ')} can read API keys, through rights on Holdfast's tables`,
    `If it is an application: select holdfast.revoke_access(${quoted(stranger)}), holdfast.grant_app(${quoted(stranger)})`,
  )
}

function refusedRights(rights: Rights): Finding {
  const { role, owner, given, deniedTables } = rights
  if (given.length === 0) {
    return fail(
      'rights',
      `"${role}" lacks some rights on ${deniedTables.join(', ')}`,
      adviceFor(rights, 'select '),
    )
  }
  return fail(
    'rights',
    `"${role}" has only the rights of ${given.join(' and ')}: enough for an application, but not to run Holdfast`,
    `Run nodes, workers, the CLI beside the database and this doctor as "${owner}".`,
  )
}

/** Don't advise granting rights on tables to publishers: an application could then insert API keys. */
function adviceFor({ role, owner }: Rights, start: string): string {
  return `To run nodes and workers with it: grant "${owner}" to "${role}". For an application that publishes, as the owner: ${start}holdfast.grant_app(${quoted(role)})`
}

function quoted(name: string): string {
  return `'${name.replaceAll("'", "''")}'`
}

const clockSamples = 5
const warnSkewMs = 2000
/** Receivers refuse signatures whose timestamp differs by more than this. */
const failSkewMs = 5 * 60_000

/** The fastest response is the most precise: half of its round trip limits the error. */
async function checkClock(database: Database): Promise<Finding> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, skewMs: 0 }
  for (let sample = 0; sample < clockSamples; sample += 1) {
    const sentAtMs = Date.now()
    const databaseMs = await readClock(database)
    const roundTripMs = Date.now() - sentAtMs
    if (roundTripMs < best.roundTripMs)
      best = { roundTripMs, skewMs: databaseMs - (sentAtMs + roundTripMs / 2) }
  }
  const offMs = Math.round(Math.abs(best.skewMs))
  const message = `the clocks of this machine and the database differ by ${offMs} ms`
  const advice =
    "Synchronise both machines with NTP. Due times use the database's clock, timestamps of requests use this machine's."
  if (offMs >= failSkewMs) return fail('clock', message, advice)
  return offMs >= warnSkewMs ? warn('clock', message, advice) : ok('clock', message)
}

/** Checks that need no schema. */
export function serverChecks(database: Database): readonly Check[] {
  return [
    ['server', () => checkServer(database)],
    ['durability', () => checkDurability(database)],
    ['rights', () => checkRights(database)],
    ['clock', () => checkClock(database)],
  ]
}
