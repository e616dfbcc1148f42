import { resolve } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import { Holdfast } from '../../sdk/holdfast.ts'
import { egressOptions } from '../input/egress-options.ts'
import { readDevState } from './dev-state.ts'
import { findEncryptionKey } from './find-encryption-key.ts'
import type { Session } from './session.ts'

export interface FoundDatabase {
  readonly url: string
  readonly isEmbedded: boolean
}

/** The configured database, otherwise that of the `holdfast dev` running in the data dir. */
export async function findDatabase({ config }: Session): Promise<FoundDatabase> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, isEmbedded: false }
  const dev = await readDevState(config.dataDir).catch((error: NodeJS.ErrnoException) => {
    throw new HoldfastError(
      'database_unavailable',
      `The data in ${resolve(config.dataDir)} can't be read: ${error.message}. Run this as the user who started ` +
        '`holdfast dev`, or set HOLDFAST_DATABASE_URL.',
      { dataDir: config.dataDir },
      error,
    )
  })
  if (dev !== null) return { url: dev.databaseUrl, isEmbedded: true }
  throw new HoldfastError(
    'database_unavailable',
    `No database was found: HOLDFAST_DATABASE_URL isn't set, and no server runs on ${resolve(config.dataDir)}. ` +
      'Start one in another terminal with: holdfast dev',
    { dataDir: config.dataDir },
  )
}

/** Connections for one short command. */
const maxConnections = 4

/** Runs `work` with Holdfast on the found database, and always closes it. */
export async function withHoldfast<Result>(
  session: Session,
  work: (holdfast: Holdfast) => Promise<Result>,
): Promise<Result> {
  const { url, isEmbedded } = await findDatabase(session)
  const encryptionKey = await findEncryptionKey(session, isEmbedded)
  const holdfast = new Holdfast({
    databaseUrl: url,
    maxConnections,
    actor: session.actor,
    encryptionKey,
    // `holdfast dev` delivers messages of an embedded database, and may reach this machine.
    ...(isEmbedded && { allowNetworks: loopbackNetworks }),
    ...egressOptions(session.config),
    // This command only stores settings: the node that delivers has its own rules.
    judgesTargets: false,
  })
  try {
    return await work(holdfast)
  } finally {
    await holdfast.stop()
  }
}
