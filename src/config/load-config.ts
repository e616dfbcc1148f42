import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HoldfastError } from '../core/errors.ts'
import { nearestName } from '../core/nearest-name.ts'
import { problemsOf } from '../core/problem.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { type Given, wrongValue } from './given.ts'
import { type Config, type SettingName, settingNames, settings } from './settings.ts'
import { type SiteSettings, siteFields, siteSettingsFrom, siteVariables } from './site-settings.ts'

export type ConfigFlags = { readonly [Name in SettingName]?: string }

export interface LoadConfigInput {
  readonly flags: ConfigFlags
  /** Site-wide settings of `--set name=value`. */
  readonly siteFlags?: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder of `holdfast.config.*`; relative paths start here. */
  readonly folder: string
  /** Used instead of the file in `folder`. */
  readonly configFile?: string
}

export interface LoadedConfig {
  readonly config: Config
  /** Where each value was set: `--port`, `HOLDFAST_PORT`, …. Defaults aren't listed. */
  readonly sources: { readonly [Name in SettingName]?: string }
  /** Site-wide settings that were set; a node pins them. */
  readonly site: SiteSettings
  /** Problems that don't prevent the start. */
  readonly warnings: readonly string[]
}

/** Variables of our own tests, which configure no process. */
const ignoredPrefixes = ['HOLDFAST_TEST_']

/**
 * Loads the configuration of a process. A flag takes precedence over the environment, that over `holdfast.config.*`, and that over the default.
 *
 * @example
 * const { config } = await loadConfig({ flags: { port: '9000' }, environment: process.env, folder: process.cwd() })
 */
export async function loadConfig(input: LoadConfigInput): Promise<LoadedConfig> {
  const file = await readConfigFile(input.folder, input.configFile)
  if (file !== null) refuseUnknownFields(file)
  const values: Partial<Record<SettingName, unknown>> = {}
  const sources: Partial<Record<SettingName, string>> = {}
  for (const name of settingNames) {
    const given = findFlag(name, input) ?? (await findVariable(name, input)) ?? findField(name, file)
    if (given === null) {
      values[name] = settings[name].fallback
      continue
    }
    values[name] = parseValue(name, given)
    sources[name] = given.source
  }
  const site = await siteSettingsFrom(input.siteFlags ?? [], {
    variable: (variable) => readVariable(variable, input),
    field: (name) => readField(name, file),
  })
  return { config: values as unknown as Config, sources, site, warnings: unknownVariables(input.environment) }
}

export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function findFlag(name: SettingName, { flags }: LoadConfigInput): Given | null {
  const value = flags[name]
  return value === undefined ? null : { value, source: `the flag ${flagOf(name)}` }
}

function findVariable(name: SettingName, input: LoadConfigInput): Promise<Given | null> {
  return readVariable(settings[name].variable, input)
}

/** An empty variable counts as unset, as in shells and compose files. */
async function readVariable(variable: string, input: LoadConfigInput): Promise<Given | null> {
  const value = input.environment[variable] ?? ''
  const path = input.environment[`${variable}_FILE`] ?? ''
  if (value !== '' && path !== '') {
    throw new HoldfastError(
      'configuration_invalid',
      `Both ${variable} and ${variable}_FILE are set. Unset one of them.`,
      { variable },
    )
  }
  if (value !== '') return { value, source: `the environment variable ${variable}` }
  if (path === '') return null
  const text = await readFile(resolve(input.folder, path), 'utf8').catch((error: unknown) => {
    throw new HoldfastError(
      'configuration_invalid',
      `${variable}_FILE names a file that can't be read: ${(error as Error).message}. Correct the path or its rights.`,
      { variable, path },
      error,
    )
  })
  // Editors and `echo` end a file with a line break, which isn't part of the value.
  return { value: text.replace(/\r?\n$/, ''), source: `the file ${path} (${variable}_FILE)` }
}

function findField(name: SettingName, file: ConfigFile | null): Given | null {
  return readField(name, file)
}

function readField(name: string, file: ConfigFile | null): Given | null {
  const value = file?.values[name]
  if (file === null || value === undefined || value === null) return null
  return { value, source: `"${name}" in ${file.name}` }
}

function parseValue(name: SettingName, given: Given): unknown {
  const { schema, isSecret } = settings[name]
  const parsed = schema.safeParse(given.value)
  if (parsed.success) return parsed.data
  throw wrongValue(name, given, problemsOf(parsed.error)[0]?.message ?? 'is invalid', isSecret)
}

function refuseUnknownFields(file: ConfigFile): void {
  for (const field of Object.keys(file.values)) {
    if (Object.hasOwn(settings, field) || siteFields.includes(field)) continue
    const names = [...settingNames, ...siteFields]
    const meant = nearestName(field, names)
    const advice = meant === null ? `Known fields are ${names.join(', ')}.` : `Did you mean "${meant}"?`
    throw new HoldfastError(
      'configuration_invalid',
      `The config file ${file.name} has an unknown field "${field}". ${advice}`,
      { file: file.name, field },
    )
  }
}

/** A warning, not an error: an older version must start although a variable of a newer one is set. */
function unknownVariables(environment: LoadConfigInput['environment']): string[] {
  const known = [...settingNames.map((name) => settings[name].variable), ...siteVariables].flatMap(
    (variable) => [variable, `${variable}_FILE`],
  )
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('HOLDFAST_') && !known.includes(variable))
    .filter((variable) => !ignoredPrefixes.some((prefix) => variable.startsWith(prefix)))
    .sort()
    .map((variable) => {
      const meant = nearestName(variable, known)
      const advice = meant === null ? 'See docs/configuration.md.' : `Did you mean ${meant}?`
      return `The environment variable ${variable} is unknown and was ignored. ${advice}`
    })
}
