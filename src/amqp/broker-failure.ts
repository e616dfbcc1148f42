import { BrokerError } from './broker-connection.ts'

/** Why a broker closed a connection, or refused it. */
export interface BrokerFailure {
  /** Stable and lower-case, e.g. `access_refused`. */
  readonly code: string
  /** The meaning of the code; the broker's own text follows it. */
  readonly sentence: string
  /** The broker's own text. */
  readonly reason: string
}

const sentences: Readonly<Record<string, string>> = {
  access_refused:
    "the broker refused this user; check user name, password, virtual host and the user's permissions: ",
  exchange_missing: 'there is no such exchange; declare it on the broker first: ',
  queue_missing: 'there is no such queue; declare it on the broker first: ',
  vhost_refused:
    'the broker refused the virtual host; it is missing, or this user has no permission for it: ',
  channel_closed_by_broker: 'the broker closed the channel: ',
  connection_closed_by_broker: 'the broker closed the connection: ',
  protocol_error: 'the broker violated the protocol: ',
}

/** Null if the error isn't a broker's answer but a network failure. `wanted`: what a 404 refers to. */
export function brokerFailure(error: unknown, wanted: 'exchange' | 'queue'): BrokerFailure | null {
  const code = codeOf(error, wanted)
  if (code === null) return null
  const reason = error instanceof Error ? error.message : String(error)
  return { code, sentence: sentences[code] ?? '', reason }
}

function codeOf(error: unknown, wanted: 'exchange' | 'queue'): string | null {
  if (error instanceof BrokerError) return error.brokerCode
  const message = error instanceof Error ? error.message : String(error)
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  if (typeof code === 'string') return null
  if (code === 403 || /ACCESS[_-]REFUSED/.test(message)) return 'access_refused'
  if (/ConnectionOpenOk; got <ConnectionClose/.test(message)) return 'vhost_refused'
  if (code === 404) return `${wanted}_missing`
  if (typeof code === 'number')
    return message.startsWith('Channel closed') ? 'channel_closed_by_broker' : 'connection_closed_by_broker'
  if (/^(?:Unexpected close|Socket closed abruptly|Heartbeat timeout)/.test(message))
    return 'connection_reset'
  return 'protocol_error'
}
