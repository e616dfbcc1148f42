import type { Command } from 'commander'
import { assertCanListen } from '../../api/assert-can-listen.ts'
import { HoldfastError } from '../../core/errors.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../postgres/embedded/start-embedded-postgres.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import { ensureDevKey } from '../api/admin-key.ts'
import { createApiServer, createSignInUrl } from '../api/create-api-server.ts'
import { pauseDemo } from '../demo/ensure-demo.ts'
import { OfferedDemo } from '../demo/offered-demo.ts'
import { ensureInbox, inboxName } from '../inbox/ensure-inbox.ts'
import { InboxPrinter } from '../inbox/inbox-printer.ts'
import { InboxServer } from '../inbox/inbox-server.ts'
import { printBanner } from '../process/banner.ts'
import { removeDevState, writeDevState } from '../process/dev-state.ts'
import { findEncryptionKey } from '../process/find-encryption-key.ts'
import { createNode, runNode, setOption, watchStopSignals } from '../process/run-node.ts'
import { openSession, type Session } from '../process/session.ts'

export function registerDev(program: Command): void {
  program
    .command('dev')
    .description('run everything on this machine: an embedded PostgreSQL, a node, its API and an inbox')
    .option('--host <address>', 'where the API listens (HOLDFAST_HOST, default 127.0.0.1)')
    .option('--port <number>', 'where the API listens (HOLDFAST_PORT, default 8420)')
    .option(...setOption)
    .option('--demo', 'add example endpoints and live traffic, so that every page has data')
    .action(async (options: { readonly demo?: boolean }, command: Command) => {
      const session = await openSession(command)
      const stopped = watchStopSignals(session)
      const { databaseUrl, dataDir } = session.config
      const server = databaseUrl === null ? await startServer(session, dataDir) : null
      try {
        await runDev(session, stopped, server, options.demo === true)
      } finally {
        // The node has closed its connections, and its last results are stored.
        await server?.stop()
      }
      session.output.message('Stopped. Nothing is lost: waiting deliveries are sent after the next start.')
    })
}

async function startServer(session: Session, dataDir: string): Promise<EmbeddedPostgres> {
  session.output.message(
    session.output.paintMessage('dim', `Starting the embedded PostgreSQL in ${dataDir} …`),
  )
  const { host, port } = session.config
  // Check the port first: creating a database cluster takes seconds.
  const beforeStart = () => assertCanListen(host, port)
  return startEmbeddedPostgres({ dataDir, logger: session.logger, beforeStart })
}

async function runDev(
  session: Session,
  stopped: ReturnType<typeof watchStopSignals>,
  server: EmbeddedPostgres | null,
  hasDemo: boolean,
): Promise<void> {
  const databaseUrl = server?.connectionString ?? session.config.databaseUrl
  if (databaseUrl === null) throw new Error('there is neither an embedded nor a configured database')
  const printer = new InboxPrinter(session.output)
  const inbox = new InboxServer((entry) => printer.print(entry))
  await inbox.start()
  // The lock of the data dir guarantees that an earlier node of this name is dead.
  const encryptionKey = await findEncryptionKey(session, server !== null)
  const holdfast = createNode(session, {
    databaseUrl,
    nodeName: 'dev',
    isNameExclusive: server !== null,
    ...(server !== null && { diskPath: session.config.dataDir }),
    allowNetworks: session.config.allowNetworks ?? loopbackNetworks,
    encryptionKey,
  })
  const { dataDir } = session.config
  const demo = new OfferedDemo(session, holdfast, databaseUrl)
  const api = createApiServer(session, holdfast, demo)
  try {
    await runNode(session, stopped, {
      databaseUrl,
      holdfast,
      api: api.server,
      ...(server !== null && { untilBroken: serverDeath(server, dataDir) }),
      beforeStop: () => demo.stopWork(),
      prepare: async () => {
        await holdfast.migrate()
        await prepareInbox(session, holdfast, inbox.url)
        await (hasDemo ? demo.prepare() : restDemo(session, holdfast))
      },
      onReady: async () => {
        const { key, isNew } = await ensureDevKey(holdfast, api.authenticator, dataDir)
        const apiUrl = api.server.url
        await writeDevState(dataDir, { databaseUrl, inboxUrl: inbox.url, apiUrl, apiKey: key })
        const signInUrl = await createSignInUrl(api)
        const newKey = isNew ? key : null
        if (hasDemo) await demo.start()
        const isDemo = demo.isRunning
        printBanner(session, { server, inboxUrl: inbox.url, apiUrl, signInUrl, newKey, isDemo })
      },
    })
  } finally {
    await removeDevState(dataDir)
    await demo.close()
    await inbox.stop()
  }
}

async function prepareInbox(session: Session, holdfast: Holdfast, url: string): Promise<void> {
  try {
    if (await ensureInbox(holdfast, url)) return
    session.output.warn(`The endpoint "${inboxName}" already existed, so its messages are not shown here.`)
  } catch (error) {
    // HOLDFAST_ALLOW_NETWORKS=none is a valid choice: start without the inbox.
    if (!(error instanceof HoldfastError) || error.code !== 'invalid_endpoint') throw error
    session.output.warn(`There is no inbox: ${error.message}`)
  }
}

async function restDemo(session: Session, holdfast: Holdfast): Promise<void> {
  const paused = await pauseDemo(holdfast)
  if (paused.length === 0) return
  session.output.message(
    `The demo's endpoints (${paused.join(', ')}) are paused. --demo resumes them; delete one with: ` +
      `${session.prefix} endpoints delete ${paused[0]} --force`,
  )
}

async function serverDeath(server: EmbeddedPostgres, dataDir: string): Promise<never> {
  const { exitCode, wasStopped } = await server.exited
  // A stop on request is not an error.
  if (wasStopped) return new Promise<never>(() => {})
  throw new HoldfastError(
    'embedded_unavailable',
    `The embedded PostgreSQL ended unexpectedly (exit code ${exitCode}); no accepted message is lost. ` +
      `See the end of ${dataDir}/postgres.log for the cause. Start again with: holdfast dev`,
    { exitCode },
  )
}
