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
import { untilBrokerIsThere } from '../process/until-broker-is-there.ts'
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
  readonly endBlockedAfter: number
  readonly metricsPort?: number
  readonly metricsHost: string
  readonly amqpUrl?: string
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
      '--amqp-url <url>',
      'get runs over this RabbitMQ, without a database connection (default: HOLDFAST_AMQP_URL)',
    )
    .option(
      '--journal-dir <folder>',
      'where results wait while the database or the broker is unavailable (default: in the data directory)',
    )
    .option('--stop-timeout <ms>', 'how long handlers may take to end at a stop (default 30000)', wholeNumber)
    .option(
      '--end-blocked-after <ms>',
      'end the process when a handler that does not yield has blocked its event loop for so long; 0: never',
      wholeNumber,
      60_000,
    )
    .option('--metrics-port <port>', 'serve /metrics, /livez and /readyz here, without a key', wholeNumber)
    .option('--metrics-host <address>', 'on this address', '127.0.0.1')
    .action((flags: WorkerFlags, command: Command) => runWorker(flags, command))
}

async function runWorker(flags: WorkerFlags, command: Command): Promise<void> {
  const session = await openSession(command)
  const stopped = watchStopSignals(session)
  const { config, logger, output } = session
  const amqpUrl = flags.amqpUrl ?? (config.brokerEnabled ? config.amqpUrl : null)
  const url = amqpUrl === null ? (await findDatabase(session)).url : null
  const { jobs, middleware } = await loadJobs(flags.import, process.cwd())
  if (flags.journalDir === undefined) await ensureDataDir(config.dataDir)
  let worker: JobWorker | null = null
  const ending = new AbortController()
  const metrics = await startMetrics(flags, url, output, () => worker)
  const start = () =>
    createWorker({
      ...(url !== null && { databaseUrl: url }),
      ...(amqpUrl !== null && { amqpUrl, amqpPrefix: config.brokerPrefix }),
      jobs,
      middleware,
      logger,
      ...optionsOf(flags, config.dataDir),
      ...(metrics !== null && {
        onRunEnded: (outcome, ms, job) => metrics.runs.ended(outcome, ms, job),
        onRecovered: (recovered) => metrics.runs.recovered(recovered),
      }),
    })
  void stopped.then(() => ending.abort())
  try {
    const wait = { logger, signal: ending.signal }
    const started =
      url === null
        ? untilBrokerIsThere(wait, start)
        : untilDatabaseIsThere({ ...wait, databaseUrl: url }, start)
    worker = await started.catch((error: unknown) => {
      if (ending.signal.aborted) return null
      throw error
    })
    if (worker !== null) {
      const names = jobs.map((job) => job.name).join(', ')
      output.message(`Worker ${worker.incarnation} executes ${names}. Stop it with Ctrl-C.`)
    }
    const signal = await stopped
    output.message(
      `Received ${signal}: waiting for running handlers to end. Send it again to stop immediately.`,
    )
    await worker?.stop()
    output.message('Stopped. Runs that had not started were returned to their queue.')
  } finally {
    await metrics?.stop()
  }
}

function optionsOf(flags: WorkerFlags, dataDir: string) {
  const { name, queue, tag, concurrency, stopTimeout, endBlockedAfter, journalDir } = flags
  return {
    journalFolder: journalDir ?? join(dataDir, 'worker-journal', encodeURIComponent(name ?? 'worker')),
    ...(name !== undefined && { name }),
    ...(queue !== undefined && { queues: queue }),
    ...(tag !== undefined && { tags: tag }),
    ...(concurrency !== undefined && { concurrency }),
    ...(stopTimeout !== undefined && { limits: { stopTimeoutMs: stopTimeout } }),
    ...(endBlockedAfter > 0 && { endBlockedAfterMs: endBlockedAfter }),
  }
}

async function startMetrics(
  { metricsPort: port, metricsHost: host }: WorkerFlags,
  databaseUrl: string | null,
  output: Output,
  worker: () => JobWorker | null,
): Promise<WorkerMetrics | null> {
  if (port === undefined) return null
  const metrics = new WorkerMetrics({ databaseUrl, host, port, worker })
  output.message(`Metrics on ${await metrics.start()}/metrics.`)
  return metrics
}
