import { HoldfastError } from '../../core/errors.ts'
import { isConnectionError } from '../connection-error.ts'
import { parseDatabaseUrl, type SessionAttributes } from './database-url.ts'
import { addressOf } from './describe-hosts.ts'

/** What to try after a failed connect. */
type NextTry =
  /** The same host, without our settings. */
  | 'without settings'
  /** Another host, which may accept the connection. */
  | 'next host'
  /** Nothing, because no other host would help: a wrong password, a full pool. */
  | 'none'

/**
 * The hosts of one database URL and which of them to try next: the one that served last, then those after it. Each pool has its own list,
 * so that after a failover only its first connection tries the dead host.
 */
export class HostList {
  readonly sessionAttributes: SessionAttributes
  readonly #connectionStrings: readonly [string, ...string[]]
  readonly #failures = new WeakMap<Error, { readonly host: string; readonly next: NextTry }>()
  #at = 0
  #takesSettings = true

  constructor(databaseUrl: string) {
    const { connectionStrings, sessionAttributes } = parseDatabaseUrl(databaseUrl)
    this.#connectionStrings = connectionStrings
    this.sessionAttributes = sessionAttributes
  }

  get count(): number {
    return this.#connectionStrings.length
  }

  /** The URL of the host to try next. */
  get current(): string {
    return this.#connectionStrings[this.#at] ?? this.#connectionStrings[0]
  }

  /** False once a server, or a proxy in front of it, has refused unknown start-up parameters. */
  get takesSettings(): boolean {
    return this.#takesSettings
  }

  /** Called when a client could not connect to its host. */
  noteFailure(host: string, error: unknown, sentSettings: boolean): void {
    if (!(error instanceof Error)) return
    const next = nextTryAfter(error, sentSettings)
    this.#failures.set(error, { host, next })
    if (next === 'without settings') this.#takesSettings = false
    // Another caller may have had the same failure and switched already.
    if (next === 'next host' && host === this.current) this.#at = (this.#at + 1) % this.count
  }

  /**
   * Connects with `open`, which makes a client for `current`; if that fails, tries the other hosts, each once. Errors that no client of this list
   * reported, such as a pool without a free connection, cause no further try.
   */
  connect<Connected>(open: () => Promise<Connected>): Promise<Connected> {
    return open().catch((error: unknown) => this.#connectAfter(error, open))
  }

  async #connectAfter<Connected>(error: unknown, open: () => Promise<Connected>): Promise<Connected> {
    const reasons: string[] = []
    for (let failed = error; ; ) {
      const failure = failed instanceof Error ? this.#failures.get(failed) : undefined
      if (failure === undefined || failure.next === 'none') throw failed
      if (failure.next === 'next host') {
        reasons.push(`${addressOf(failure.host)} (${(failed as Error).message.replace(/\.$/, '')})`)
        if (reasons.length === this.count) throw this.count === 1 ? failed : noHost(reasons, failed)
      }
      try {
        return await open()
      } catch (again) {
        failed = again
      }
    }
  }
}

/** PgBouncer's error text; its SQLSTATE (08P01) has other meanings too. */
const settingsRefused = /unsupported startup parameter/i

function nextTryAfter(error: Error, sentSettings: boolean): NextTry {
  if (settingsRefused.test(error.message)) return sentSettings ? 'without settings' : 'none'
  return isConnectionError(error) ? 'next host' : 'none'
}

function noHost(reasons: readonly string[], cause: unknown): HoldfastError {
  return new HoldfastError(
    'database_unavailable',
    `None of the database's hosts can be used: ${reasons.join('; ')}. Check the hosts in the URL, and that one of them accepts writes.`,
    {},
    cause,
  )
}
