import { z } from 'zod'
import { isSecretMark, partlyShown, type SecretPath } from '../../secrets/endpoint-secrets.ts'
import { type SecretValue, secret } from '../http/config-fields.ts'
import { tlsConfig } from '../http/http-config.ts'
import { clientCertificateProblem } from '../http/tls-config.ts'
import { messageTemplateProblem } from '../message-text.ts'
import { amqpUrlProblem, hasPassword, parseAmqpUrl, withoutPassword } from './amqp-url.ts'

/** AMQP's short strings: names, keys, properties. */
export const maxShortBytes = 255

const shortText = z.string().refine((text) => Buffer.byteLength(text) <= maxShortBytes, {
  error: `must be at most ${maxShortBytes} bytes`,
})

const brokerUrl = z
  .string()
  .max(2_048)
  .superRefine((text, context) => {
    const message = amqpUrlProblem(text)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

function template(place: string) {
  return z
    .string()
    .max(8_192)
    .superRefine((text, context) => {
      const message = messageTemplateProblem(text, place)
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
}

const headerName = shortText.min(1).refine((name) => !/^(?:webhook-|holdfast-)/i.test(name), {
  error: 'is set by Holdfast and can not be configured',
})

const properties = z.strictObject({
  contentType: shortText.optional(),
  contentEncoding: shortText.optional(),
  priority: z.int().min(0).max(255).optional(),
  expirationMs: z.int().min(0).max(4_294_967_295).optional(),
  replyTo: shortText.optional(),
  type: shortText.optional(),
  appId: shortText.optional(),
  userId: shortText.optional(),
})

const shape = {
  /** With a password in it, it is stored as a secret. */
  url: secret(brokerUrl),
  username: z.string().min(1).max(255).optional(),
  password: secret(z.string().min(1).max(4_096)).optional(),
  /** The empty name is the default exchange, which routes to the queue that the key names. */
  exchange: shortText,
  routingKey: template('routingKey').optional(),
  headers: z.record(headerName, template('headers')).default({}),
  properties: properties.default({}),
  persistent: z.boolean().default(true),
  mandatory: z.boolean().default(true),
  cloudEventsPrefix: z.enum(['cloudEvents:', 'cloudEvents_']).default('cloudEvents:'),
  tls: tlsConfig.optional(),
  /** From connect to the broker's confirm. */
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
}

/** The `config` of an endpoint whose transport is `amqp`, as it is stored: a field that only a newer version knows is passed over. */
export const amqpConfig = z.object(shape)

/** The same as a person writes it. `classify` is checked for every transport alike. */
export const amqpConfigInput = z
  .strictObject({ ...shape, classify: z.unknown().optional() })
  .superRefine((config, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message })
    const address = parseAmqpUrl(seenUrl(config.url))
    if ((config.username === undefined) !== (config.password === undefined))
      refuse(config.username === undefined ? 'username' : 'password', 'is missing: both or neither')
    if (config.username !== undefined && address?.username != null)
      refuse('username', 'is in the URL already: give it once')
    if (config.tls === undefined) return
    if (address?.isSecure === false) refuse('tls', 'needs a URL that begins with amqps://')
    const problem = clientCertificateProblem(config.tls)
    if (problem !== null) refuse('tls', problem)
  })

export type AmqpConfig = z.output<typeof amqpConfig>

const fixedPaths: readonly SecretPath[] = [['password'], ['tls', 'key'], ['tls', 'passphrase']]

/** The URL is a secret when it holds a password. */
export function secretPaths({ url }: Readonly<Record<string, unknown>>): readonly SecretPath[] {
  const isHidden = typeof url === 'string' ? hasPassword(url) : isSecretMark(url)
  return isHidden ? [['url'], ...fixedPaths] : fixedPaths
}

export function shownPart(field: string, text: string): string | null {
  return field === 'url' ? withoutPassword(text) : null
}

/** The URL, or what may be seen of it: enough to tell where it leads. */
export function seenUrl(url: SecretValue): string {
  return typeof url === 'string' ? url : (partlyShown(url) ?? '')
}
