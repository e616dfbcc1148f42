import { openFields } from '../../secrets/sealed-fields.ts'
import type { MappingConfig } from '../../sources/mapping-config.ts'
import { MessageMapping } from '../../sources/message-mapping.ts'
import { type SourceRegistry, secretFieldsOf } from '../../sources/registry.ts'
import type { Database } from '../../storage/database.ts'
import { readClock } from '../../storage/server.ts'
import { readActiveSources, reportSources, type SourceRow, setSourceState } from '../../storage/sources.ts'
import { Background } from '../background.ts'
import type { Logger } from '../logger.ts'
import { RunningSource } from './running-source.ts'
import { type PublishMapped, SourceIntake } from './source-intake.ts'

export interface SourceRunnerOptions {
  readonly database: Database
  readonly sources: SourceRegistry
  readonly publish: PublishMapped
  readonly nodeName: string
  readonly incarnation: () => number
  readonly logger: Logger
  readonly onStored: (source: string, outcome: 'published' | 'rejected', count: number) => void
}

interface Running {
  readonly version: number
  readonly source: RunningSource
  reported: number
}

const reportMs = 1_000
/** Changes are notified; this poll finds missed ones. */
const refreshMs = 30_000

/** Consumes every active source on this node. Nodes compete for the messages, and the broker balances them, so sources have no owner. */
export class SourceRunner {
  readonly #options: SourceRunnerOptions
  readonly #background: Background
  readonly #running = new Map<string, Running>()
  #refreshing: Promise<void> | null = null
  #isRefreshAsked = false
  #reporting: Promise<void> | null = null
  #reportedAs = 0
  #timers: NodeJS.Timeout[] = []
  #isStopping = false

  constructor(options: SourceRunnerOptions) {
    this.#options = options
    this.#background = new Background(options.logger)
  }

  start(): void {
    if (this.#timers.length > 0 || this.#isStopping) return
    this.refresh()
    this.#timers = [
      setInterval(() => this.refresh(), refreshMs).unref(),
      setInterval(() => this.#report(), reportMs).unref(),
    ]
  }

  /** Reads the list of sources; restarts those that have changed. */
  refresh(): void {
    this.#isRefreshAsked = true
    if (this.#isStopping || this.#refreshing !== null) return
    this.#refreshing = this.#background.tolerate(this.#refresh()).finally(() => {
      this.#refreshing = null
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#refreshing
    await Promise.all([...this.#running.values()].map(({ source }) => source.stop()))
    this.#running.clear()
    await this.#reporting
    if (this.#reportedAs !== 0) await this.#background.tolerate(this.#writeReports())
  }

  async #refresh(): Promise<void> {
    while (this.#isRefreshAsked && !this.#isStopping) {
      this.#isRefreshAsked = false
      const rows = await readActiveSources(this.#options.database)
      const wanted = new Map(rows.map((row) => [row.name, row]))
      const ended = [...this.#running].filter(([name, { version }]) => wanted.get(name)?.version !== version)
      await Promise.all(ended.map(([, { source }]) => source.stop()))
      for (const [name] of ended) this.#running.delete(name)
      for (const row of rows) if (!this.#running.has(row.name) && !this.#isStopping) this.#begin(row)
      if (ended.length > 0) this.#reportedAs = -1
    }
  }

  #begin(row: SourceRow): void {
    const { database, logger, onStored } = this.#options
    const source = new RunningSource({
      sourceId: row.id,
      name: row.name,
      logger,
      prepare: () => this.#prepare(row),
      askDatabase: () => readClock(database),
      onStored: ({ published, rejected }) => {
        if (published > 0) onStored(row.name, 'published', published)
        if (rejected > 0) onStored(row.name, 'rejected', rejected)
      },
      onOnlyRejects: (count) => void this.#background.tolerate(this.#stopRejecting(row, count)),
    })
    this.#running.set(row.name, { version: row.version, source, reported: -1 })
    source.start()
  }

  async #prepare(row: SourceRow) {
    const { sources, database, publish } = this.#options
    const type = sources.get(row.type)
    if (type === undefined)
      throw new Error(
        `This version knows no source of type "${row.type}". It has ${sources.names.join(', ')}.`,
      )
    const opened = openFields(row.config, secretFieldsOf(type, row.name, row.config), sources.keyring)
    if (!opened.ok) throw new Error(`The source can't be opened: ${opened.reason}.`)
    const open = await type.load()
    const mapping = new MessageMapping(row.name, opened.config as unknown as MappingConfig)
    const intake = new SourceIntake({ sourceId: row.id, mapping, database, publish })
    return { open, config: opened.config, intake }
  }

  /** The remaining messages stay in the queue until an operator has fixed the cause. */
  async #stopRejecting({ name, version }: SourceRow, count: number): Promise<void> {
    const { database, nodeName } = this.#options
    const reason = `${count} messages in a row could not become events. Fix the mapping or the sender, then resume the source and retry what was rejected.`
    await setSourceState(database, name, 'rejecting', reason, `node:${nodeName}`, version)
    this.refresh()
  }

  #report(): void {
    const isNew =
      this.#reportedAs !== this.#options.incarnation() ||
      [...this.#running.values()].some(({ source, reported }) => source.revision !== reported)
    if (!isNew || this.#reporting !== null || (this.#running.size === 0 && this.#reportedAs === 0)) return
    // Errors are not logged: while the database is unavailable, the sources themselves report it.
    this.#reporting = this.#writeReports()
      .catch(() => {})
      .finally(() => {
        this.#reporting = null
      })
  }

  async #writeReports(): Promise<void> {
    const { database, nodeName: name } = this.#options
    const incarnation = this.#options.incarnation()
    const all = [...this.#running.values()].map((running) => ({ running, revision: running.source.revision }))
    await reportSources(
      database,
      { incarnation, name },
      all.map(({ running }) => running.source.report),
    )
    for (const { running, revision } of all) running.reported = revision
    this.#reportedAs = incarnation
  }
}
