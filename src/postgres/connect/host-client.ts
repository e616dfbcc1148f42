import { Client, type ClientConfig } from 'pg'
import { HoldfastError } from '../../core/errors.ts'
import { queryWithDeadline } from '../deadline.ts'
import type { HostList } from './host-list.ts'

export interface HostClientOptions extends Omit<ClientConfig, 'connectionString'> {
  readonly hosts: HostList
  /** For all hosts together: each gets an equal share. */
  readonly connectionTimeoutMillis: number
  /** Sent as start-up parameters, unless the server has refused those. */
  readonly settings?: SessionSettings
}

/** Settings of our own sessions, in `pg`'s format. Settings in the URL take precedence. */
export interface SessionSettings {
  readonly startup: Pick<
    ClientConfig,
    'statement_timeout' | 'idle_in_transaction_session_timeout' | 'options'
  >
  /**
   * The same settings as SQL, executed if start-up parameters are refused. Null if a session may be shared: they would apply to other clients too.
   */
  readonly sql: string | null
}

/** A client of the host to try next. `connect` fails unless that server has the session attributes that the URL asks for. */
export class HostClient extends Client {
  readonly #hosts: HostList
  readonly #host: string
  readonly #settings: SessionSettings | null
  readonly #sendsSettings: boolean
  readonly #checkDeadlineMs: number

  constructor({ hosts, settings, connectionTimeoutMillis, ...config }: HostClientOptions) {
    const host = hosts.current
    const sendsSettings = settings !== undefined && hosts.takesSettings
    const timeoutMs = Math.max(1, Math.floor(connectionTimeoutMillis / hosts.count))
    super({
      ...config,
      ...(sendsSettings && settings.startup),
      connectionString: host,
      connectionTimeoutMillis: timeoutMs,
    })
    this.#hosts = hosts
    this.#host = host
    this.#settings = settings ?? null
    this.#sendsSettings = sendsSettings
    this.#checkDeadlineMs = timeoutMs
  }

  override connect(): Promise<Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    if (callback === undefined) return this.#connect()
    void this.#connectFor(callback)
  }

  async #connectFor(callback: (error: Error) => void): Promise<void> {
    try {
      await this.#connect()
    } catch (error) {
      callback(error as Error)
      return
    }
    // pg calls back without an error, which its types don't allow.
    ;(callback as () => void)()
  }

  async #connect(): Promise<Client> {
    try {
      await super.connect()
    } catch (error) {
      this.#hosts.noteFailure(this.#host, error, this.#sendsSettings)
      throw error
    }
    try {
      await this.#checkServer()
      await this.#applySettings()
      return this
    } catch (error) {
      this.#hosts.noteFailure(this.#host, error, false)
      this.end().catch(() => {})
      throw error
    }
  }

  async #checkServer(): Promise<void> {
    const wanted = this.#hosts.sessionAttributes
    if (wanted === 'any') return
    const { rows } = await queryWithDeadline<{ isStandby: boolean; isReadOnly: boolean }>(
      this,
      `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only')::boolean as "isReadOnly"`,
      this.#checkDeadlineMs,
    )
    const { isStandby = false, isReadOnly = false } = rows[0] ?? {}
    if (!isStandby && (wanted === 'primary' || !isReadOnly)) return
    const what = isStandby ? 'is a standby and accepts' : 'takes'
    throw new HoldfastError('database_unavailable', `The server ${what} no writes.`)
  }

  async #applySettings(): Promise<void> {
    const sql = this.#settings?.sql ?? null
    if (sql === null || this.#sendsSettings) return
    await queryWithDeadline(this, sql, this.#checkDeadlineMs)
  }
}
