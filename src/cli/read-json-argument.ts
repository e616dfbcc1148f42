import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { HoldfastError } from '../core/errors.ts'

/** The text of an argument that may be JSON itself, `@file`, or `-` for standard input. */
export async function readArgument(argument: string): Promise<string> {
  if (argument === '-') return text(process.stdin)
  if (!argument.startsWith('@')) return argument
  const path = argument.slice(1)
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new HoldfastError(
      'invalid_payload',
      `The file ${path} can't be read: ${(error as Error).message}.`,
      { path },
      error,
    )
  })
}

export function parseJson(source: string, what: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw new HoldfastError(
      'invalid_payload',
      `${what} isn't JSON: ${(error as Error).message}. Put it in single quotes, like '{"hello":"world"}', ` +
        'or read it from a file with @file.',
      {},
      error,
    )
  }
}

export async function readJsonObject(argument: string, flag: string): Promise<Record<string, unknown>> {
  const value = parseJson(await readArgument(argument), `The value of ${flag}`)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new HoldfastError('invalid_endpoint', `The value of ${flag} must be a JSON object.`, { flag })
}
