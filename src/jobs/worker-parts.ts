import type { Logger } from '../engine/logger.ts'
import { isTracing } from '../observe/tracing.ts'
import { EndedRuns } from './ended-runs.ts'
import { Executor } from './executor.ts'
import { HandlerPool } from './isolation/handler-pool.ts'
import type { AnyJob } from './job.ts'
import { JobTable } from './job-table.ts'
import type { Journal } from './journal.ts'
import type { PresenceOptions, RunFeed, RunNotes, WorkerLink, WorkerPresence } from './link/worker-link.ts'
import { ProgressWriter } from './progress-writer.ts'
import { RunSettler } from './run-settler.ts'
import { createWorkBoardMemory, WorkBoard } from './work-board/work-board.ts'
import type { WorkerEvents } from './worker-events.ts'
import type { WorkerLimits } from './worker-limits.ts'
import type { WorkerOptions } from './worker-options.ts'

export interface WorkerSetup {
  readonly options: WorkerOptions
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly name: string
  readonly concurrency: number
  readonly limits: WorkerLimits
  readonly logger: Logger
  readonly link: WorkerLink
}

export interface WorkerParts {
  readonly presence: WorkerPresence
  readonly board: WorkBoard
  readonly table: JobTable
  readonly settler: RunSettler
  readonly executor: Executor
  readonly pool: HandlerPool
  readonly feed: RunFeed
  readonly endedRuns: EndedRuns
  readonly progress: ProgressWriter
  readonly notes: RunNotes
  readonly journal: Journal | null
  readonly upkeep: ReturnType<WorkerLink['createUpkeep']>
}

/** Makes the parts of a worker: the feed passes runs to the executor, and the executor passes results to the settler. */
export function createWorkerParts(
  setup: WorkerSetup,
  journal: Journal | null,
  events: WorkerEvents,
): WorkerParts {
  const { link, limits, logger, jobs, concurrency } = setup
  const memory = createWorkBoardMemory()
  const board = new WorkBoard(memory)
  const table = new JobTable(link, logger)
  const pool = new HandlerPool()
  const endedRuns = new EndedRuns(async (payload) => link.tellFollowers?.(payload))
  const presence: WorkerPresence = link.createPresence({
    ...presenceOf(setup, events),
    board: memory,
    onRing: () => feed.ring(),
    onTailWanted: (forMs) => endedRuns.wanted(forMs),
    onJoined: (incarnation) => journal?.noteWorker(incarnation),
  })
  const worker = () => presence.incarnation
  const list = (maxEntries: number) => executor.listInFlight(maxEntries)
  const notes = link.createNotes({ worker, list, logger })
  const progress = new ProgressWriter({
    store: link.progress,
    intervalMs: limits.progressMs,
    logger,
    worker,
  })
  const settler = new RunSettler({
    store: link.results,
    target: link.target,
    journal,
    logger,
    onSettled: (entries, refused) => events.settled(entries, refused),
  })
  const hasSucceeded = (runId: number) => settler.hasSucceeded(runId)
  const executor: Executor = new Executor({
    jobs,
    table,
    concurrency,
    cancelGraceMs: limits.cancelGraceMs,
    killGraceMs: limits.killGraceMs,
    logger,
    board,
    pool,
    middleware: setup.options.middleware ?? [],
    isTraced: isTracing(),
    observer: { onNews: (context) => progress.note(context) },
    mayStart: () => events.mayStart && settler.unsettled < limits.maxUnsettled && !presence.isFenced,
    hasSucceeded,
    settle: (entry) => settler.accept(entry),
    onRunning: (count) => {
      presence.running = count
      if (count > 0) notes.begun()
    },
    onRoom: (isSuspects) => {
      // Runs that had to wait for this one are due already, and nothing else wakes the feed for them.
      if (isSuspects) feed.ring()
      else feed.noteRoom()
    },
  })
  const feed = link.createFeed({
    executor,
    board,
    limits,
    concurrency,
    minLine: Math.max(0, ...[...jobs.values()].map(({ batch }) => (batch?.maxRuns ?? 1) - 1)),
    logger,
    worker,
    mayClaim: () =>
      events.mayClaim &&
      !settler.isOffline &&
      settler.unsettled < limits.maxUnsettled &&
      journal?.hasRoom() !== false &&
      !presence.isFenced,
    take: (runs, incarnation, isOurs) => events.claimed(runs, incarnation, isOurs),
    release: (run, incarnation) => executor.release(run, incarnation),
    hasSucceeded,
  })
  const upkeep = link.createUpkeep(worker)
  return {
    presence,
    board,
    table,
    settler,
    executor,
    pool,
    feed,
    endedRuns,
    progress,
    notes,
    journal,
    upkeep,
  }
}

function presenceOf(
  { options, jobs, name, concurrency, limits, logger }: WorkerSetup,
  events: WorkerEvents,
): Omit<PresenceOptions, 'board' | 'onRing' | 'onTailWanted' | 'onJoined'> {
  return {
    name,
    tags: options.tags ?? [],
    concurrency,
    queues: options.queues ?? null,
    jobNames: [...jobs.keys()],
    jobs: [...jobs.values()].filter(({ hasHandler }) => hasHandler),
    limits,
    endBlockedAfterMs: options.endBlockedAfterMs ?? null,
    logger,
    onJobsChanged: () => void events.jobsChanged(),
    onBeat: (heard) => events.heard(heard),
    onRecovered: (recovered) => options.onRecovered?.(recovered),
  }
}
