import { join } from 'node:path'
import type { Command } from 'commander'
import type { JobWorker } from '../../jobs/worker.ts'
import { ensureDataDir } from '../../postgres/embedded/data-dir.ts'
import { createWorker } from '../../sdk/create-worker.ts'
import { collectText, wholeNumber } from '../input/option-parsers.ts'
import type { Output } from '../output/output.ts'
import { findDatabase } from '../process/find-database.ts'
import { loadJobs } from '../process/load-jobs.ts'
import { watchStopSignals } from '../process/run-node.ts'
import { openSession } from '../process/session.ts'
import { untilDatabaseIsThere } from '../process/until-database-is-there.ts'
import { WorkerMetrics } from '../process/worker-metrics.ts'

interface WorkerFlags {
  readonly import: readonly string[]
  readonly queue?: readonly string[]
  readonly tag?: readonly string[]
  readonly name?: string
  readonly concurrency?: number
  readonly journalDir?: string
  readonly stopTimeout?: number
  readonly metricsPort?: number
  readonly metricsHost: string
}

export function registerWorker(program: Command): void {
  program
    .command('worker')
    .description('execute the jobs that your modules export, until a stop signal')
    .requiredOption('--import <file>', 'a module that exports jobs; may be given more than once', collectText)
    .option('--queue <name>', 'execute runs of this queue only; may be given more than once', collectText)
    .option('--name <name>', "the worker's name, which runs can be targeted at (default: the host name)")
    .option(
      '--tag <tag>',
      'a tag of this worker, which runs can require; may be given more than once',
      collectText,
    )
    .option('--concurrency <number>', 'handlers at once (default 10)', wholeNumber)
    .option(
      '--journal-dir <folder>',
      'where results wait while the database is unavailable (default: in the data directory)',
    )
    .option('--stop-timeout <ms>', 'how long handlers may take to end at a stop (default 30000)', wholeNumber)
    .option('--metrics-port <port>', 'serve /metrics, /livez and /readyz here, without a key', wholeNumber)
    .option('--metrics-host <address>', 'on this address', '127.0.0.1')
    .action(async (flags: WorkerFlags, command: Command) => {
      const session = await openSession(command)
      const stopped = watchStopSignals(session)
      const { url } = await findDatabase(session)
      const jobs = await loadJobs(flags.import, process.cwd())
      const { name, queue, tag, concurrency, stopTimeout } = flags
      if (flags.journalDir === undefined) await ensureDataDir(session.config.dataDir)
      let worker: JobWorker | null = null
      const ending = new AbortController()
      const metrics = await startMetrics(flags, url, session.output, () => worker)
      const start = () =>
        createWorker({
          databaseUrl: url,
          jobs,
          logger: session.logger,
          journalFolder:
            flags.journalDir ??
            join(session.config.dataDir, 'worker-journal', encodeURIComponent(name ?? 'worker')),
          ...(name !== undefined && { name }),
          ...(queue !== undefined && { queues: queue }),
          ...(tag !== undefined && { tags: tag }),
          ...(concurrency !== undefined && { concurrency }),
          ...(stopTimeout !== undefined && { limits: { stopTimeoutMs: stopTimeout } }),
          ...(metrics !== null && {
            onRunEnded: (outcome, ms) => metrics.runs.ended(outcome, ms),
            onRecovered: (recovered) => metrics.runs.recovered(recovered),
          }),
        })
      void stopped.then(() => ending.abort())
      try {
        const wait = { databaseUrl: url, logger: session.logger, signal: ending.signal }
        worker = await untilDatabaseIsThere(wait, start).catch((error: unknown) => {
          if (ending.signal.aborted) return null
          throw error
        })
        if (worker !== null) {
          session.output.message(
            `Worker ${worker.incarnation} runs ${jobs.map((job) => job.name).join(', ')}. Ctrl-C stops it.`,
          )
        }
        const signal = await stopped
        session.output.message(`Got ${signal}: finishing what is running. Once more stops at once.`)
        await worker?.stop()
        session.output.message('Stopped. What had not begun went back.')
      } finally {
        await metrics?.stop()
      }
    })
}

async function startMetrics(
  { metricsPort: port, metricsHost: host }: WorkerFlags,
  databaseUrl: string,
  output: Output,
  worker: () => JobWorker | null,
): Promise<WorkerMetrics | null> {
  if (port === undefined) return null
  const metrics = new WorkerMetrics({ databaseUrl, host, port, worker })
  output.message(`Metrics on ${await metrics.start()}/metrics.`)
  return metrics
}
