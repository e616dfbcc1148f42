import { z } from 'zod'
import type { CommonEndpointInput } from '../../core/endpoints/common-endpoint-input.ts'
import {
  type AttemptClassName,
  classify,
  describeTransport,
  sqlCommon,
  timeoutMs,
} from '../transport-description.ts'

/** The `config` of an endpoint whose transport is `smtp`. The mail server itself is a setting of the node. */
export interface SmtpConfigInput {
  /** The recipients; at most 20 addresses. */
  readonly to: readonly string[]
  /** The sender; `holdfast@localhost` by default. */
  readonly from?: string | undefined
  /** The deadline of one e-mail, in milliseconds, 30,000 by default. */
  readonly timeoutMs?: number | undefined
  /** Has no effect: e-mail has no such statuses. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** An endpoint that is an e-mail address. */
export interface SmtpEndpointInput extends CommonEndpointInput {
  /** The transport. */
  readonly transport: 'smtp'
  /** The recipients and the sender. */
  readonly config: SmtpConfigInput
}

const config = z
  .strictObject({
    to: z.array(z.string()).min(1).max(20),
    from: z.string().optional(),
    timeoutMs,
    classify,
  })
  .meta({ id: 'SmtpConfigInput' }) satisfies z.ZodType<unknown, SmtpConfigInput>

const address = z.email({ error: 'must be an e-mail address' })
const addresses = 'must be a list of 1 to 20 e-mail addresses'

export const smtpDescription = describeTransport<SmtpEndpointInput>({
  name: 'smtp',
  sendsTo: 'e-mail addresses, through the mail server in `HOLDFAST_SMTP_URL`',
  config,
  example: {
    name: 'ops-mail',
    transport: 'smtp',
    config: { to: ['ops@example.com'], from: 'holdfast@example.com' },
  },
  flags: [
    {
      flag: '--to <address>',
      sets: 'to',
      about: 'who gets the e-mails of the smtp transport; repeat for more',
      reads: 'texts',
    },
    { flag: '--from <address>', sets: 'from', about: 'who they come from' },
  ],
  sqlConfig: z.strictObject({
    to: z.array(address, { error: addresses }).min(1, { error: addresses }).max(20, { error: addresses }),
    from: address.optional(),
    ...sqlCommon,
  }),
  targetOf: ({ to }) => `smtp ${to.join(', ')}`,
})
