import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../holdfast.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../postgres/embedded/start-embedded-postgres.ts'
import { printBanner } from '../banner.ts'
import { removeDevState, writeDevState } from '../dev-state.ts'
import { ensureInbox, inboxName } from '../inbox/ensure-inbox.ts'
import { InboxPrinter } from '../inbox/inbox-printer.ts'
import { InboxServer } from '../inbox/inbox-server.ts'
import { applySettings, createNode, runNode, watchStopSignals } from '../run-node.ts'
import { openSession, type Session } from '../session.ts'

export function registerDev(program: Command): void {
  program
    .command('dev')
    .description('run everything on this machine: an embedded PostgreSQL, a node, and an inbox to send to')
    .action(async (_options: unknown, command: Command) => {
      const session = await openSession(command)
      const stopped = watchStopSignals(session)
      const { databaseUrl, dataDir } = session.config
      const server = databaseUrl === null ? await startServer(session, dataDir) : null
      try {
        await runDev(session, stopped, server)
      } finally {
        // The node has let go of the server by now; what it settled last is in there.
        await server?.stop()
      }
      session.output.message('Stopped. Nothing is lost: what is still owed goes out at the next start.')
    })
}

async function startServer(session: Session, dataDir: string): Promise<EmbeddedPostgres> {
  session.output.message(
    session.output.paintMessage('dim', `Starting the embedded PostgreSQL in ${dataDir} …`),
  )
  return startEmbeddedPostgres({ dataDir, logger: session.logger })
}

async function runDev(
  session: Session,
  stopped: ReturnType<typeof watchStopSignals>,
  server: EmbeddedPostgres | null,
): Promise<void> {
  const databaseUrl = server?.connectionString ?? session.config.databaseUrl
  if (databaseUrl === null) throw new Error('there is neither an embedded nor a configured database')
  const printer = new InboxPrinter(session.output)
  const inbox = new InboxServer((entry) => printer.print(entry))
  await inbox.start()
  // The data dir's lock makes sure that an earlier node of this name is dead.
  const holdfast = createNode(session, { databaseUrl, nodeName: 'dev', isNameExclusive: server !== null })
  const { dataDir } = session.config
  try {
    await runNode(session, stopped, {
      holdfast,
      ...(server !== null && { untilBroken: serverDeath(server, dataDir) }),
      prepare: async () => {
        await holdfast.migrate()
        await applySettings(session, databaseUrl)
        await prepareInbox(session, holdfast, inbox.url)
        if (server !== null) await writeDevState(dataDir, { databaseUrl, inboxUrl: inbox.url })
      },
      onReady: () => printBanner(session, { server, inboxUrl: inbox.url }),
    })
  } finally {
    if (server !== null) await removeDevState(dataDir)
    await inbox.stop()
  }
}

async function prepareInbox(session: Session, holdfast: Holdfast, url: string): Promise<void> {
  if (await ensureInbox(holdfast, url)) return
  session.output.warn(`The endpoint "${inboxName}" is your own, so messages to it don't come here.`)
}

async function serverDeath(server: EmbeddedPostgres, dataDir: string): Promise<never> {
  const { exitCode, wasStopped } = await server.exited
  // A wanted end isn't news; whoever stopped the server goes on without us.
  if (wasStopped) return new Promise<never>(() => {})
  throw new HoldfastError(
    'embedded_unavailable',
    `The embedded PostgreSQL ended unexpectedly (exit code ${exitCode}); nothing that was accepted is lost. ` +
      `Its last words are in ${dataDir}/postgres.log. Start again with: holdfast dev`,
    { exitCode },
  )
}
