import { z } from 'zod'
import type { LazyTransport } from '../registry.ts'
import type { SmtpChannelOptions } from './smtp-channel.ts'

export interface SmtpTransportOptions {
  /**
   * The mail server, `smtp://user:password@host:587` or `smtps://…`. The operator configures it for the process: an endpoint chooses its
   * recipients, never the server, and the server's password isn't stored.
   */
  readonly url: string | null
}

const address = z.email({ error: 'must be an e-mail address' })

const shape = {
  to: z.array(address).min(1).max(20),
  from: address.optional(),
  timeoutMs: z.int().min(100).max(300_000).default(30_000),
}

/** As stored: a field that only a newer version knows is ignored. */
const smtpConfig = z.object(shape)

/** As users write it: a misspelt field is refused. `classify` is validated for every transport alike. */
export const smtpConfigInput = z.strictObject({ ...shape, classify: z.unknown().optional() })

export type SmtpConfig = z.output<typeof smtpConfig>

/**
 * Sends e-mails. A payload `{ subject, text }` is the e-mail; any other payload is sent as its JSON text. The mail library is loaded by the
 * first send: most processes never send one.
 *
 * @example
 * const transports = createTransportRegistry([smtpTransport({ url: 'smtp://mail.example:587' })])
 */
export function smtpTransport({ url }: SmtpTransportOptions): LazyTransport {
  return {
    name: 'smtp',
    parseConfig: (config) => smtpConfigInput.parse(config),
    checkStored: (config) => void channelOptions(url, '', config),
    load: async () => {
      const { SmtpChannel } = await import('./smtp-channel.ts')
      return (endpoint, config) => new SmtpChannel(channelOptions(url, endpoint, config))
    },
  }
}

function channelOptions(url: string | null, endpoint: string, stored: unknown): SmtpChannelOptions {
  if (url === null) throw new Error('no mail server is configured in this process: set HOLDFAST_SMTP_URL')
  return { endpoint, url, config: smtpConfig.parse(stored) }
}
