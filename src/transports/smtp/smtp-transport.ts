import { z } from 'zod'
import type { Transport } from '../transport.ts'
import { SmtpChannel } from './smtp-channel.ts'

export interface SmtpTransportOptions {
  /**
   * The mail server, `smtp://user:password@host:587` or `smtps://…`. It is the operator's, who names it to the process: an endpoint chooses
   * whom it writes to, never where it connects to, and no password of it is stored.
   */
  readonly url: string | null
}

const address = z.email({ error: 'must be an e-mail address' })

const shape = {
  to: z.array(address).min(1).max(20),
  from: address.optional(),
  timeoutMs: z.int().min(100).max(300_000).default(30_000),
}

/** As it is stored: a field that only a newer version knows is passed over. */
const smtpConfig = z.object(shape)

/** As a person writes it: a misspelt field is refused. `classify` is checked for every transport alike. */
export const smtpConfigInput = z.strictObject({ ...shape, classify: z.unknown().optional() })

export type SmtpConfig = z.output<typeof smtpConfig>

/**
 * Writes e-mails. The payload `{ subject, text }` is the e-mail; any other is its text as JSON.
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
      // Thrown at the opening, so that the lane is held with this reason instead of using up retries.
      if (url === null) throw new Error('this process knows no mail server: set HOLDFAST_SMTP_URL')
      return new SmtpChannel({ endpoint, url, config: smtpConfig.parse(config) })
    },
  }
}
