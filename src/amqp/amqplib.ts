import { createRequire } from 'node:module'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import type { ChannelModel } from 'amqplib'

/** Parameters that the client requests in the opening handshake. */
export interface OpenFields {
  readonly clientProperties: Readonly<Record<string, unknown>>
  readonly mechanism: string
  readonly response: Buffer
  readonly locale: string
  readonly channelMax: number
  readonly frameMax: number
  readonly heartbeat: number
  /** A larger frame ends the connection. */
  readonly maxFrameSize: number
  readonly virtualHost: string
  readonly capabilities: string
  readonly insist: number
}

export interface RawConnection {
  open(fields: OpenFields, callback: (error: unknown) => void): void
  /** Whether data was received since the last heartbeat check. */
  recvSinceLastCheck: boolean
}

/** The two classes that amqplib's `connect` consists of, without the socket that it opens itself. */
export interface Amqplib {
  readonly Connection: new (stream: Duplex) => RawConnection
  readonly ChannelModel: new (connection: RawConnection) => ChannelModel
}

/** The versions in which these files were verified; package.json has the same range. */
const wantedVersions = '~2.3.1'

/**
 * amqplib's `connect` opens its own socket, which would bypass the network rules, and its public API accepts no socket. These two classes do; they
 * are imported by file name. A version that moved the files is refused here, with the version to install.
 */
export function loadAmqplib(from: string = import.meta.url): Amqplib {
  const require = createRequire(from)
  const advice = `Install it where Holdfast runs, with: npm install "amqplib@${wantedVersions}"`
  let entry: string
  try {
    entry = require.resolve('amqplib')
  } catch {
    throw new Error(`the package amqplib is not installed. ${advice}`)
  }
  const folder = path.join(path.dirname(entry), 'lib')
  try {
    const { Connection } = require(path.join(folder, 'connection.js')) as Partial<Amqplib>
    const { ChannelModel } = require(path.join(folder, 'channel_model.js')) as Partial<Amqplib>
    if (Connection !== undefined && ChannelModel !== undefined) return { Connection, ChannelModel }
  } catch {
    // The installed version has other files than the wanted ones.
  }
  throw new Error(`the version of amqplib in ${path.dirname(entry)} can not be used. ${advice}`)
}
