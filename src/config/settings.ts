import { z } from 'zod'
import { amqpUrlProblem } from '../amqp/amqp-url.ts'
import { defaultTopology } from '../broker/topology.ts'
import { HoldfastError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import { parseNetwork } from '../core/network/network.ts'
import { parsePorts } from '../core/network/port-policy.ts'
import { parseDatabaseUrl } from '../postgres/connect/database-url.ts'
import { Keyring } from '../secrets/keyring.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFormat = 'pretty' | 'json'

/** The settings of a Holdfast process, from any source. */
export interface Config {
  /** Null: the embedded server in `dataDir`. */
  readonly databaseUrl: string | null
  readonly dataDir: string
  /** Name of this installation, like `production`. Shown in the dashboard. */
  readonly environment: string | null
  readonly host: string
  readonly port: number
  readonly adminKey: string | null
  readonly encryptionKey: string | null
  /** Private networks that deliveries may reach; null: the command's default. */
  readonly allowNetworks: readonly string[] | null
  /** Ports that deliveries may use; null: the usual ones. */
  readonly allowPorts: string | null
  /** Reverse proxies in front of the API whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** A forward proxy for all outgoing connections. */
  readonly proxyUrl: string | null
  /** The RabbitMQ of broker mode. */
  readonly amqpUrl: string | null
  /** False: nodes don't use `amqpUrl`. */
  readonly brokerEnabled: boolean
  /** Prefix of every name on the broker. */
  readonly brokerPrefix: string
  readonly brokerDeadLetterTtlMs: number
  readonly brokerDeliveryLimit: number
  /** The mail server for alerts by e-mail. */
  readonly smtpUrl: string | null
  /** Base URL of the runbook, for links in alerts. */
  readonly runbookUrl: string | null
  /** URL template of the dashboard's links to a trace; `{traceId}` is replaced. */
  readonly traceUrl: string | null
  /** URL of the API, for commands. */
  readonly apiUrl: string | null
  readonly apiKey: string | null
  /** Name of the saved sign-in to use. */
  readonly profile: string | null
  readonly logLevel: LogLevel
  /** Null: pretty on a terminal, otherwise JSON. */
  readonly logFormat: LogFormat | null
}

export type SettingName = keyof Config

interface Setting<Value> {
  readonly variable: `HOLDFAST_${string}`
  /** Accepts the text of a flag or variable, and the value of a config file. */
  readonly schema: z.ZodType<Value>
  readonly fallback: Value
  /** The value never appears in a message. */
  readonly isSecret: boolean
}

const maxPort = 65_535

/**
 * Every setting of a process, and the only place that lists them; installation-wide settings are in core/settings/site-settings.ts.
 * `docs/configuration.md` describes each.
 */
export const settings: { readonly [Name in SettingName]: Setting<Config[Name]> } = {
  databaseUrl: setting('HOLDFAST_DATABASE_URL', postgresUrl(), null, 'secret'),
  dataDir: setting('HOLDFAST_DATA_DIR', field.text(4096), '.holdfast'),
  environment: setting('HOLDFAST_ENVIRONMENT', field.text(63), null),
  host: setting('HOLDFAST_HOST', field.text(255), '127.0.0.1'),
  port: setting('HOLDFAST_PORT', wholeNumberOrText(0, maxPort), 8420),
  adminKey: setting('HOLDFAST_ADMIN_KEY', field.text(1024), null, 'secret'),
  encryptionKey: setting('HOLDFAST_ENCRYPTION_KEY', keyring(), null, 'secret'),
  allowNetworks: setting('HOLDFAST_ALLOW_NETWORKS', networks(), null),
  allowPorts: setting('HOLDFAST_ALLOW_PORTS', ports(), null),
  trustedProxies: setting('HOLDFAST_TRUSTED_PROXIES', networks(), []),
  proxyUrl: setting(
    'HOLDFAST_PROXY_URL',
    urlOf(['http:', 'https:'], 'http://user:password@proxy.example:3128'),
    null,
    'secret',
  ),
  amqpUrl: setting('HOLDFAST_AMQP_URL', amqpUrl(), null, 'secret'),
  brokerEnabled: setting('HOLDFAST_BROKER_ENABLED', trueOrFalse(), true),
  brokerPrefix: setting('HOLDFAST_BROKER_PREFIX', brokerPrefix(), defaultTopology.prefix),
  brokerDeadLetterTtlMs: setting(
    'HOLDFAST_BROKER_DEAD_LETTER_TTL_MS',
    wholeNumberOrText(60_000, 31_536_000_000),
    defaultTopology.deadLetterTtlMs,
  ),
  brokerDeliveryLimit: setting(
    'HOLDFAST_BROKER_DELIVERY_LIMIT',
    wholeNumberOrText(1, 1_000_000),
    defaultTopology.deliveryLimit,
  ),
  smtpUrl: setting(
    'HOLDFAST_SMTP_URL',
    urlOf(['smtp:', 'smtps:'], 'smtp://user:password@host:587'),
    null,
    'secret',
  ),
  traceUrl: setting(
    'HOLDFAST_TRACE_URL',
    urlOf(['http:', 'https:'], 'https://traces.example/trace/{traceId}').refine(
      (text) => text.includes('{traceId}'),
      { error: 'must contain {traceId}, like https://traces.example/trace/{traceId}' },
    ),
    null,
  ),
  runbookUrl: setting(
    'HOLDFAST_RUNBOOK_URL',
    urlOf(['http:', 'https:'], 'https://wiki.example/holdfast-runbook'),
    null,
  ),
  apiUrl: setting('HOLDFAST_URL', urlOf(['http:', 'https:'], 'https://holdfast.example.com'), null),
  apiKey: setting('HOLDFAST_API_KEY', field.text(1024), null, 'secret'),
  profile: setting('HOLDFAST_PROFILE', field.text(100), null),
  logLevel: setting('HOLDFAST_LOG_LEVEL', field.oneOf(...logLevels), 'info'),
  logFormat: setting('HOLDFAST_LOG_FORMAT', field.oneOf('pretty', 'json'), null),
}

export const settingNames = Object.keys(settings) as readonly SettingName[]

function setting<Value>(
  variable: `HOLDFAST_${string}`,
  schema: z.ZodType<Value>,
  fallback: Value,
  secrecy: 'secret' | 'open' = 'open',
): Setting<Value> {
  return { variable, schema, fallback, isSecret: secrecy === 'secret' }
}

/** A URL may have several hosts; each must be valid by itself. */
function postgresUrl() {
  const url = urlOf(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/database')
  return z.string().superRefine((text, context) => {
    const problem = problemOfHosts(text, (connectionString) => url.safeParse(connectionString).error)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  })
}

function problemOfHosts(
  text: string,
  check: (connectionString: string) => z.ZodError | undefined,
): string | null {
  try {
    const errors = parseDatabaseUrl(text).connectionStrings.map(check)
    return errors.find((error) => error !== undefined)?.issues[0]?.message ?? null
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return error.message.replace(/^The database URL /, '').replace(/\.$/, '')
  }
}

function urlOf(protocols: readonly string[], example: string) {
  const error = `must be a URL like ${example}`
  return z
    .string({ error })
    .refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), { error })
}

function amqpUrl() {
  return z.string({ error: 'must be a URL like amqp://user:password@host' }).superRefine((text, context) => {
    const message = amqpUrlProblem(text)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
}

/** Validated here and kept as text; the code that uses it parses it. */
function keyring() {
  return z.string({ error: 'must be text' }).superRefine((text, context) => {
    const parsed = Keyring.parse(text)
    if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.problem })
  })
}

function wholeNumberOrText(min: number, max: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
    field.wholeNumber(min, max),
  )
}

function brokerPrefix() {
  const error = 'must be 1 to 60 letters, digits, ".", "_" and "-"'
  return z.string({ error }).regex(/^[A-Za-z0-9._-]{1,60}$/, { error })
}

function trueOrFalse() {
  const error = 'must be true or false'
  return z.preprocess(
    (value) => (value === 'true' ? true : value === 'false' ? false : value),
    z.boolean({ error }),
  )
}

function networks() {
  const error = 'must be "none" or networks separated by commas, like 10.0.0.0/8,fd00::/8'
  return z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value),
      z.array(z.string({ error }), { error }),
    )
    .transform((list) => (list.length === 1 && list[0] === 'none' ? [] : list))
    .refine((list) => list.every((text) => parseNetwork(text) !== null), { error })
}

function ports() {
  const error = 'must be "usual", "any", or ports and ranges separated by commas, like 80,443,8000-8999'
  return z.string({ error }).refine((text) => parsePorts(text) !== null, { error })
}
