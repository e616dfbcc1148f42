import { HoldfastError } from '../../core/errors.ts'
import { checkServerVersion } from '../../postgres/schema.ts'
import { testSessionSupport } from '../../postgres/self-test.ts'
import type { Database } from '../../storage/database.ts'
import { type Rights, readRights } from '../queries/read-rights.ts'
import { readClock, readServer } from '../queries/read-server.ts'
import { type Finding, fail, ok, warn } from './check.ts'

export async function checkServer(database: Database): Promise<Finding> {
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
      'Name the primary in HOLDFAST_DATABASE_URL.',
    )
  }
  return ok('server', `PostgreSQL ${version}`)
}

export async function checkDurability(database: Database): Promise<Finding> {
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
      'synchronous_commit is off: a crash may lose what was accepted in the last moments',
      'Set synchronous_commit = on for this role or server.',
    )
  }
  return ok('durability', `fsync on, synchronous_commit ${synchronousCommit}`)
}

export async function checkRights(database: Database): Promise<Finding> {
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
    `API keys are open to ${strangers.map((name) => `"${name}"`).join(', ')}, by rights on Holdfast's tables`,
    `If it is an application: select holdfast.revoke_access(${quoted(stranger)}), holdfast.grant_app(${quoted(stranger)})`,
  )
}

function refusedRights(rights: Rights): Finding {
  const { role, owner, given, deniedTables } = rights
  if (given.length === 0) {
    return fail(
      'rights',
      `"${role}" may not use ${deniedTables.join(', ')} in full`,
      adviceFor(rights, 'select '),
    )
  }
  return fail(
    'rights',
    `"${role}" has the rights of ${given.join(' and ')} only, which is right for it but not enough to run Holdfast`,
    `Run nodes, workers, the CLI beside the database and this doctor as "${owner}".`,
  )
}

/** Rights on tables are no way to publish: they would let an application write API keys. */
function adviceFor({ role, owner }: Rights, start: string): string {
  return `To run nodes and workers with it: grant "${owner}" to "${role}". For an application that publishes, as the owner: ${start}holdfast.grant_app(${quoted(role)})`
}

function quoted(name: string): string {
  return `'${name.replaceAll("'", "''")}'`
}

const clockSamples = 5
const warnSkewMs = 2000
/** Receivers refuse signatures whose time is further off than this. */
const failSkewMs = 5 * 60_000

/** The fastest answer says most: half of its round trip bounds the error. */
export async function checkClock(database: Database): Promise<Finding> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, skewMs: 0 }
  for (let sample = 0; sample < clockSamples; sample += 1) {
    const sentAtMs = Date.now()
    const databaseMs = await readClock(database)
    const roundTripMs = Date.now() - sentAtMs
    if (roundTripMs < best.roundTripMs)
      best = { roundTripMs, skewMs: databaseMs - (sentAtMs + roundTripMs / 2) }
  }
  const offMs = Math.round(Math.abs(best.skewMs))
  const message = `this machine and the database are ${offMs} ms apart`
  const advice =
    'Synchronise both machines with NTP. Due times follow the database, timestamps of requests this machine.'
  if (offMs >= failSkewMs) return fail('clock', message, advice)
  return offMs >= warnSkewMs ? warn('clock', message, advice) : ok('clock', message)
}

export async function checkListen(databaseUrl: string): Promise<Finding> {
  const { reason } = await testSessionSupport(databaseUrl)
  if (reason === null) return ok('listen', 'notifications arrive, sessions keep their state')
  return warn('listen', reason, 'Holdfast works, with up to a second more latency when idle.')
}
