import { access, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HoldfastError } from '../core/errors.ts'

export interface ConfigFile {
  /** The file's name for messages: relative if it was found, as given if the user named it. */
  readonly name: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Names that other tools read. They are refused, because a file that is silently ignored looks like one that is read. */
const otherNames = ['ts', 'mts', 'cts', 'cjs', 'yaml', 'yml', 'toml'].map((end) => `holdfast.config.${end}`)
const fileNames = ['holdfast.config.json', 'holdfast.config.mjs', 'holdfast.config.js'] as const

/** Reads the config file of a folder, or the named one; null if there is none. */
export async function readConfigFile(folder: string, named?: string): Promise<ConfigFile | null> {
  const name = named ?? (await findConfigFile(folder))
  if (name === null) return null
  const path = resolve(folder, name)
  const values = path.endsWith('.json') ? await readJson(path, name) : await importModule(path, name)
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    const what = path.endsWith('.json') ? 'hold a JSON object' : 'export an object as its default'
    throw invalid(name, `must ${what}, like { "port": 8420 }`)
  }
  return { name, values: values as Record<string, unknown> }
}

async function findConfigFile(folder: string): Promise<string | null> {
  const found = await existing(folder, fileNames)
  const [unread] = await existing(folder, otherNames)
  if (unread !== undefined) {
    throw invalid(
      unread,
      `can't be read by Holdfast: write it as one of ${fileNames.join(', ')}, or remove it`,
    )
  }
  if (found.length > 1) {
    throw new HoldfastError(
      'configuration_invalid',
      `There is more than one config file: ${found.join(' and ')}. Keep one of them, or name one with --config-file.`,
      { files: found },
    )
  }
  return found[0] ?? null
}

async function existing(folder: string, names: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const name of names) {
    const exists = await access(resolve(folder, name)).then(
      () => true,
      () => false,
    )
    if (exists) found.push(name)
  }
  return found
}

async function readJson(path: string, name: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw invalid(name, `can't be read: ${(error as Error).message}`, error)
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(name, `isn't JSON: ${(error as Error).message}`, error)
  }
}

async function importModule(path: string, name: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(path).href)) as { default?: unknown }
    return module.default
  } catch (error) {
    throw invalid(name, `can't be loaded: ${(error as Error).message}`, error)
  }
}

function invalid(name: string, problem: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'configuration_invalid',
    `The config file ${name} ${problem}.`,
    { file: name },
    cause,
  )
}
