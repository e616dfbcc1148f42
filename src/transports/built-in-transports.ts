import type { Egress } from '../network/egress.ts'
import { amqpTransport } from './amqp/amqp-transport.ts'
import type { BuiltInTransportName } from './endpoint-types.ts'
import { functionTransport } from './function/function-transport.ts'
import type { Handler } from './function/handler.ts'
import { httpTransport } from './http/http-transport.ts'
import type { LazyTransport } from './registry.ts'
import { smtpTransport } from './smtp/smtp-transport.ts'
import type { Transport } from './transport.ts'

export interface BuiltInTransportOptions {
  readonly egress: Egress
  /** Handlers of `function` endpoints. May be added while the engine runs. */
  readonly handlers: ReadonlyMap<string, Handler>
  readonly smtpUrl: string | null
}

/** The implementation of each description in `descriptions.ts`. */
export function builtInTransports({
  egress,
  handlers,
  smtpUrl,
}: BuiltInTransportOptions): readonly (Transport | LazyTransport)[] {
  const byName: Readonly<Record<BuiltInTransportName, Transport | LazyTransport>> = {
    http: httpTransport({ egress }),
    function: functionTransport({ handlers }),
    smtp: smtpTransport({ url: smtpUrl }),
    amqp: amqpTransport({ egress }),
  }
  return Object.values(byName)
}
