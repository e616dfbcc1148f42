import { join } from 'node:path'
import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { parseEventTypePattern } from '../../core/routes/event-type-pattern.ts'
import { withApi } from '../connection/with-api.ts'
import { progressLine } from '../interact/follow-operation.ts'
import { countOf } from '../output/count-of.ts'
import { docsPage } from '../output/docs-page.ts'
import type { Output } from '../output/output.ts'
import { isTerminal } from '../output/paint.ts'
import { openSession, type Session } from '../process/session.ts'
import { StopRequest } from '../process/stop-request.ts'
import { Checkpoint } from './checkpoint.ts'
import { type ImportCounts, ImportStopped, importLog } from './import-log.ts'
import { apiTarget, databaseTarget, type ImportTarget } from './import-target.ts'
import { type EventFilter, parseMoment } from './read-event.ts'
import { findLogs, type LogFile } from './read-log.ts'

export interface ImportFlags {
  readonly from?: string
  readonly to?: string
  readonly types?: string
  readonly dryRun?: boolean
  readonly again?: boolean
  readonly rejected: string
}

const maxReportedLines = 20
const redrawMs = 200

export async function importLogs(path: string, flags: ImportFlags, command: Command): Promise<void> {
  const filter = readFilter(flags)
  const logs = await findLogs(path)
  const session = await openSession(command)
  if (flags.dryRun === true) await importAll(logs, filter, flags, session, null)
  else if (isBesideDatabase(session)) {
    // Load the engine only for this case.
    const { withHoldfast } = await import('../process/find-database.ts')
    const { databaseUrl } = session.config
    await withHoldfast(session, (holdfast) =>
      importAll(logs, filter, flags, session, databaseTarget(holdfast, databaseUrl ?? '')),
    )
  } else {
    await withApi(command, (found) =>
      importAll(logs, filter, flags, found, apiTarget(found.client, found.api.url)),
    )
  }
}

/** Writes directly to a configured database, unless a server is configured as well; then the server's node only delivers. */
function isBesideDatabase({ config }: Session): boolean {
  return config.databaseUrl !== null && config.apiUrl === null && config.profile === null
}

async function importAll(
  logs: readonly LogFile[],
  filter: EventFilter,
  flags: ImportFlags,
  session: Session,
  target: ImportTarget | null,
): Promise<void> {
  const { output } = session
  const counts = { lines: 0, published: 0, deliveries: 0, filtered: 0, unknown: 0, broken: 0, resumed: 0 }
  const progress = new Progress(
    logs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    output,
  )
  const unfinished: HoldfastError[] = []
  const stop = StopRequest.listen()
  stop.signal.addEventListener('abort', () => process.stdin.destroy())
  try {
    for (const log of logs) {
      if (stop.isStopped) break
      const imported = importLog(log, {
        target,
        filter,
        checkpoint:
          target === null || log.path === '-' ? null : checkpointOf(log.path, flags, session, target),
        rejectedPath: flags.rejected,
        counts,
        stop: stop.signal,
        onBytes: (bytes) => progress.add(bytes),
        onBroken: (line, problem) => {
          if (counts.broken > maxReportedLines) return
          progress.message(`${log.path}:${line} ${problem}`)
          if (counts.broken === maxReportedLines)
            progress.message('Further invalid lines are counted, but not listed here.')
        },
        onWaiting: (reason) => progress.note(`waiting: ${reason}`),
      })
      // A truncated file does not stop the import of the others.
      await imported.catch((error: unknown) => {
        if (error instanceof ImportStopped) return
        if (!(error instanceof HoldfastError) || error.code !== 'invalid_payload') throw error
        unfinished.push(error)
      })
    }
  } finally {
    progress.end()
  }
  const kept = counts.broken > 0 && target !== null ? flags.rejected : null
  const summary = { files: logs.length, ...counts, rejected: kept, dryRun: flags.dryRun === true }
  output.data({ ...summary, stopped: stop.isStopped }, () => describe(summary, counts))
  if (stop.isStopped) output.warn(`Stopped by a signal. ${howToContinue(logs, target)}`)
  if (target !== null && counts.published > 0 && counts.deliveries === 0) {
    output.warn(
      `No route matches these events: they are stored, but not delivered. Create the route before the import, as shown in ${docsPage('learning.md')}`,
    )
  }
  const [first, ...others] = unfinished
  if (first === undefined) return
  for (const { message } of others) output.warn(message)
  throw first
}

function howToContinue(logs: readonly LogFile[], target: ImportTarget | null): string {
  if (target === null) return 'Nothing was published.'
  return logs.some(({ path }) => path === '-')
    ? 'To import the rest, run the same command with the same input: within 24 hours, what is stored already is not stored again.'
    : 'What was published is kept. To import the rest, run the same command again: it continues from there.'
}

function checkpointOf(
  path: string,
  flags: ImportFlags,
  { config }: Session,
  target: ImportTarget,
): Checkpoint {
  const { from = null, to = null, types = null } = flags
  const checkpoint = Checkpoint.in(
    join(config.dataDir, 'imports'),
    path,
    target.name,
    JSON.stringify([from, to, types]),
  )
  return flags.again === true ? checkpoint.fromTheBeginning() : checkpoint
}

function readFilter({ from, to, types }: ImportFlags): EventFilter {
  const moment = (flag: string, text: string | undefined) => {
    if (text === undefined) return null
    try {
      return parseMoment(text)
    } catch (error) {
      throw new HoldfastError('configuration_invalid', `${flag}: ${(error as Error).message}`)
    }
  }
  const patterns = (types ?? '').split(',').filter((text) => text.trim() !== '')
  return {
    fromMs: moment('--from', from),
    toMs: moment('--to', to),
    types: patterns.map((text) => {
      const parsed = parseEventTypePattern(text.trim())
      if (parsed.ok) return parsed.value
      throw new HoldfastError('configuration_invalid', `--types: "${text}" ${parsed.problem.message}`)
    }),
  }
}

function describe(
  summary: { files: number; rejected: string | null; dryRun: boolean },
  counts: ImportCounts,
): string {
  const parts = [
    summary.dryRun
      ? `${countOf(counts.published, 'events')} would be published`
      : `${countOf(counts.published, 'events')} published, ${countOf(counts.deliveries, 'deliveries')}`,
    `${countOf(counts.lines, 'lines')} read in ${countOf(summary.files, 'files')}`,
    ...(counts.resumed > 0 ? [`${countOf(counts.resumed, 'lines')} imported before`] : []),
    ...(counts.filtered > 0 ? [`${countOf(counts.filtered, 'events')} excluded by the options`] : []),
    ...(counts.unknown > 0 ? [`${countOf(counts.unknown, 'events')} of kinds without a mapping`] : []),
    ...(counts.broken > 0
      ? [
          `${countOf(counts.broken, 'invalid lines')}${summary.rejected === null ? '' : `, written to ${summary.rejected}`}`,
        ]
      : []),
  ]
  return parts.join('\n')
}

/** One line at the bottom of the terminal; without a terminal, only important messages. */
class Progress {
  readonly #totalBytes: number
  readonly #output: Output
  readonly #isScreen: boolean
  #bytes = 0
  #drawnAtMs = 0

  constructor(totalBytes: number, output: Output) {
    this.#totalBytes = totalBytes
    this.#output = output
    this.#isScreen = isTerminal(process.stderr) && !output.isJson
  }

  add(bytes: number): void {
    this.#bytes += bytes
    this.note('')
  }

  note(text: string): void {
    const nowMs = performance.now()
    if (!this.#isScreen || nowMs - this.#drawnAtMs < redrawMs) return
    this.#drawnAtMs = nowMs
    const line = progressLine({
      done: this.#bytes,
      skipped: 0,
      total: this.#totalBytes,
      isTotalExact: true,
    })
    process.stderr.write(`\r${line} bytes ${text}\u001b[K`)
  }

  message(text: string): void {
    if (this.#isScreen) process.stderr.write('\r\u001b[K')
    this.#output.warn(text)
  }

  end(): void {
    if (this.#isScreen) process.stderr.write('\r\u001b[K')
  }
}
