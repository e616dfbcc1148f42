import type { ApiServer } from '../../api/api-server.ts'
import { Holdfast } from '../../sdk/holdfast.ts'
import type { HoldfastOptions } from '../../sdk/holdfast-options.ts'
import { egressOptions } from '../input/egress-options.ts'
import { goOnWithoutReader } from './closed-output.ts'
import type { Session } from './session.ts'
import { firstStopSignal, type StopSignal, whenOrphaned } from './stop-signal.ts'
import { untilDatabaseIsThere } from './until-database-is-there.ts'

export interface NodeRun {
  readonly databaseUrl: string
  readonly holdfast: Holdfast
  readonly api: ApiServer
  /** Runs before the node takes its first delivery, e.g. to create endpoints. Repeated if the database became unavailable meanwhile. */
  prepare?(holdfast: Holdfast): Promise<void>
  /** The node is delivering. */
  onReady(): void | Promise<void>
  /** The API and the node still work. */
  beforeStop?(): Promise<void>
  /** Ends the run as a failure if it rejects, e.g. because the embedded server has died. */
  readonly untilBroken?: Promise<never>
}

/** An option of commands that run a node. */
export const setOption: [string, string, (text: string, before: string[]) => string[], string[]] = [
  '--set <name=value>',
  'pin a site-wide setting while this node runs, like max_pending=5000; may be repeated',
  (text, before) => [...before, text],
  [],
]

const parentPollMs = 500

/** From now on Ctrl-C stops gracefully, also during the start. */
export function watchStopSignals(session: Session): Promise<StopSignal> {
  goOnWithoutReader()
  const signalled = firstStopSignal({
    source: process,
    nowMs: () => performance.now(),
    exit: (code) => {
      session.output.message('Stopped immediately: deliveries in flight may be sent again.')
      process.exit(code)
    },
  })
  // Without npm a parent may exit on purpose: `nohup holdfast serve &`.
  if (process.env['npm_command'] === undefined) return signalled
  return Promise.race([signalled, whenOrphaned({ parentPid: () => process.ppid, everyMs: parentPollMs })])
}

export function createNode(session: Session, options: Omit<HoldfastOptions, 'logger' | 'actor'>): Holdfast {
  return new Holdfast({
    ...egressOptions(session.config),
    ...alertOptions(session.config),
    ...brokerOptions(session.config),
    settings: session.site.values,
    settingSources: session.site.sources,
    ...options,
    logger: session.logger,
    actor: session.actor,
  })
}

function alertOptions({ smtpUrl, runbookUrl }: Session['config']) {
  return { ...(smtpUrl !== null && { smtpUrl }), ...(runbookUrl !== null && { runbookUrl }) }
}

function brokerOptions({
  amqpUrl,
  brokerPrefix,
  brokerDeadLetterTtlMs,
  brokerDeliveryLimit,
  brokerEnabled,
}: Session['config']) {
  if (amqpUrl === null || !brokerEnabled) return {}
  const topology = {
    prefix: brokerPrefix,
    deadLetterTtlMs: brokerDeadLetterTtlMs,
    deliveryLimit: brokerDeliveryLimit,
  }
  return { broker: { url: amqpUrl, topology } }
}

/**
 * Delivers until a stop signal arrives, then lets deliveries in flight finish. The API listens from the start: while the database is unavailable,
 * supervisors see from it that this process is alive and what it waits for.
 */
export async function runNode(session: Session, stopped: Promise<StopSignal>, run: NodeRun): Promise<void> {
  const { holdfast, api } = run
  const broken = run.untilBroken ?? new Promise<never>(() => {})
  const ending = new AbortController()
  try {
    const started = async () => {
      await api.start()
      const wait = { databaseUrl: run.databaseUrl, logger: session.logger, signal: ending.signal }
      await untilDatabaseIsThere(wait, async () => {
        await run.prepare?.(holdfast)
        await holdfast.start()
      })
      api.open()
      await run.onReady()
      return stopped
    }
    const signal = await Promise.race([started(), stopped, broken])
    session.output.message(
      `Received ${signal}: waiting for deliveries in flight. Send it again to stop immediately.`,
    )
  } finally {
    ending.abort()
    try {
      await run.beforeStop?.()
    } finally {
      // Finish calls in progress before Holdfast stops.
      await api.stop()
      await holdfast.stop()
    }
  }
}
