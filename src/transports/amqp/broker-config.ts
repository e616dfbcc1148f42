import { z } from 'zod'
import { amqpUrlProblem, hasPassword, parseAmqpUrl, withoutPassword } from '../../amqp/amqp-url.ts'
import type { BrokerAccess } from '../../amqp/broker-connection.ts'
import type { Problem } from '../../core/problem.ts'
import type { Egress } from '../../network/egress.ts'
import { isSecretMark, partlyShown, type SecretPath } from '../../secrets/endpoint-secrets.ts'
import { type SecretValue, secret } from '../http/config-fields.ts'
import { type TlsConfig, tlsConfig } from '../http/http-config.ts'
import { requireSecret } from '../http/require-secret.ts'
import { clientCertificateProblem, tlsOptions } from '../http/tls-config.ts'

/** Maximum length of AMQP's short strings: names, keys, properties. */
export const maxShortBytes = 255

export const shortText = z.string().refine((text) => Buffer.byteLength(text) <= maxShortBytes, {
  error: `must be at most ${maxShortBytes} bytes`,
})

const brokerUrl = z
  .string()
  .max(2_048)
  .superRefine((text, context) => {
    const message = amqpUrlProblem(text)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

/** Settings of the connection to a broker, in the config of an endpoint and of a source. */
export const brokerFields = {
  /** Stored as a secret if it contains a password. */
  url: secret(brokerUrl),
  username: z.string().min(1).max(255).optional(),
  password: secret(z.string().min(1).max(4_096)).optional(),
  tls: tlsConfig.optional(),
}

export interface BrokerConfig {
  readonly url: SecretValue
  readonly username?: string | undefined
  readonly password?: SecretValue | undefined
  readonly tls?: TlsConfig | undefined
}

/** Reports contradictory settings. */
export function refuseBroker(config: BrokerConfig, context: z.RefinementCtx): void {
  const refuse = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message })
  const address = parseAmqpUrl(seenUrl(config.url))
  if ((config.username === undefined) !== (config.password === undefined))
    refuse(
      config.username === undefined ? 'username' : 'password',
      'is missing: set both username and password, or neither',
    )
  if (config.username !== undefined && address?.username != null)
    refuse('username', 'is also in the URL: set it in one place only')
  if (config.tls === undefined) return
  if (address?.isSecure === false) refuse('tls', 'needs a URL that begins with amqps://')
  const problem = clientCertificateProblem(config.tls)
  if (problem !== null) refuse('tls', problem)
}

const fixedPaths: readonly SecretPath[] = [['password'], ['tls', 'key'], ['tls', 'passphrase']]

/** The URL is a secret if it contains a password. */
export function secretPaths({ url }: Readonly<Record<string, unknown>>): readonly SecretPath[] {
  const isHidden = typeof url === 'string' ? hasPassword(url) : isSecretMark(url)
  return isHidden ? [['url'], ...fixedPaths] : fixedPaths
}

export function shownPart(field: string, text: string): string | null {
  return field === 'url' ? withoutPassword(text) : null
}

/** The URL, or the part of it that may be shown. */
export function seenUrl(url: SecretValue): string {
  return typeof url === 'string' ? url : (partlyShown(url) ?? '')
}

/** `config` contains the decrypted secrets. */
export function brokerAccess(config: BrokerConfig): BrokerAccess {
  const address = parseAmqpUrl(requireSecret(config.url, 'url'))
  if (address === null) throw new Error('config.url is not the URL of a broker')
  const password =
    config.password === undefined ? address.password : requireSecret(config.password, 'password')
  return {
    address,
    // RabbitMQ's default user, which may connect from the broker's own machine only.
    username: config.username ?? address.username ?? 'guest',
    password: password ?? 'guest',
    tls: config.tls === undefined ? {} : tlsOptions(config.tls),
  }
}

/** Why this process may not connect to the broker. */
export function refusedBroker({ url }: BrokerConfig, egress: Egress): Problem[] {
  const address = parseAmqpUrl(seenUrl(url))
  // A mark stands for the stored value, which was checked when it was stored.
  const refusals = address?.hosts.map(({ hostname }) => egress.refusalOfTcp(hostname)) ?? []
  const refusal = refusals.find((one) => one !== null)
  return refusal == null ? [] : [{ path: 'config.url', message: refusal.message }]
}
