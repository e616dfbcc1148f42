import { z } from 'zod'
import type { Transport } from '../transport.ts'
import { SmtpChannel } from './smtp-channel.ts'

export interface SmtpTransportOptions {
  /**
   * The mail server, `smtp://user:password@host:587` or `smtps://…`. The operator configures it for the process: an endpoint chooses
   * its recipients, never the server, and no password of it is stored.
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
 * Sends e-mails. The payload `{ subject, text }` is the e-mail; any other payload is sent as its text in JSON.
 *
 * @example
 * const transport = smtpTransport({ url: 'smtp://mail.example:587' })
 * const channel = transport.open('ops-mail', { to: ['ops@example.com'] })
 */
export function smtpTransport(options: SmtpTransportOptions): Transport {
  return {
    name: 'smtp',
    parseConfig: (config) => smtpConfigInput.parse(config),
    open: (endpoint, config) => {
      const { url } = options
      // Thrown when it is opened, so that the lane is held with this reason instead of using retries.
      if (url === null) throw new Error('no mail server is configured in this process: set HOLDFAST_SMTP_URL')
      return new SmtpChannel({ endpoint, url, config: smtpConfig.parse(config) })
    },
  }
}
