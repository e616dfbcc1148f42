import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type pino from 'pino'
import { type ConfigFlags, type LoadedConfig, loadConfig } from '../../config/load-config.ts'
import type { Config } from '../../config/settings.ts'
import { createLogger } from '../../observe/create-logger.ts'
import { secretsOf } from '../../observe/redact.ts'
import { parseDatabaseUrl } from '../../postgres/connect/database-url.ts'
import { commandPrefix } from '../input/command-prefix.ts'
import { Output } from '../output/output.ts'
import { hasColour, isTerminal } from '../output/paint.ts'

/** The options of the program itself; a command may have an option with the name of a setting and another meaning. */
export interface GlobalOptions
  extends Pick<
    ConfigFlags,
    | 'databaseUrl'
    | 'dataDir'
    | 'host'
    | 'port'
    | 'allowNetworks'
    | 'trustedProxies'
    | 'apiUrl'
    | 'apiKey'
    | 'profile'
    | 'logLevel'
    | 'logFormat'
  > {
  readonly json?: boolean
  readonly set?: readonly string[]
  readonly configFile?: string
}

/** Configuration, output and context of a command. */
export interface Session {
  readonly config: Config
  readonly sources: LoadedConfig['sources']
  /** Site-wide settings, which a node pins. */
  readonly site: LoadedConfig['site']
  readonly output: Output
  readonly logger: pino.Logger
  /** `holdfast`, `npx holdfast` or `npm run -s holdfast --`. */
  readonly prefix: string
  /** The author of changes, in the audit log. */
  readonly actor: string
}

/** Reads the configuration, and prints its warnings. */
export async function openSession(command: Command): Promise<Session> {
  const { json, configFile, databaseUrl, dataDir, host, port, allowNetworks, ...rest } =
    command.optsWithGlobals<GlobalOptions>()
  const { set: siteFlags, trustedProxies, apiUrl, apiKey, profile, logLevel, logFormat } = rest
  const environment = process.env
  const output = new Output({
    stdout: process.stdout,
    stderr: process.stderr,
    isJson: json === true,
    environment,
  })
  const { config, sources, site, warnings } = await loadConfig({
    flags: definedOnly({
      databaseUrl,
      dataDir,
      host,
      port,
      allowNetworks,
      trustedProxies,
      apiUrl,
      apiKey,
      profile,
      logLevel,
      logFormat,
    }),
    ...(siteFlags !== undefined && { siteFlags }),
    environment,
    folder: process.cwd(),
    ...(configFile !== undefined && { configFile }),
  })
  for (const warning of warnings) output.warn(warning)
  const hasTerminal = isTerminal(process.stderr)
  const logger = createLogger({
    level: config.logLevel,
    format: config.logFormat ?? (hasTerminal ? 'pretty' : 'json'),
    hasColor: hasColour(hasTerminal, environment),
    secrets: [
      ...(config.databaseUrl === null
        ? []
        : parseDatabaseUrl(config.databaseUrl).connectionStrings.flatMap(secretsOf)),
      ...secretsOf(config.amqpUrl),
      ...secretsOf(config.proxyUrl),
      ...secretsOf(config.smtpUrl),
      ...(config.adminKey === null ? [] : [config.adminKey]),
      ...(config.apiKey === null ? [] : [config.apiKey]),
      ...(config.encryptionKey?.split(/[\s,]+/).filter((key) => key !== '') ?? []),
    ],
  })
  return {
    config,
    sources,
    site,
    output,
    logger,
    prefix: commandPrefix(environment),
    actor: `cli:${userName()}`,
  }
}

/** In a container the user id may have no account. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

function definedOnly<T extends object>(values: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as { [Name in keyof T]: Exclude<T[Name], undefined> }
}
