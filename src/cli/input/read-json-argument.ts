import { HoldfastError } from '../../core/errors.ts'
import { encodePayload } from '../../sdk/payload.ts'
import { RawJson } from '../../sdk/raw-json.ts'
import { readText } from './read-text.ts'

/** The text of an argument that may be JSON itself, `@file`, or `-` for standard input. */
export async function readArgument(argument: string): Promise<string> {
  if (argument !== '-' && !argument.startsWith('@')) return argument
  const path = argument === '-' ? argument : argument.slice(1)
  return readText(path).catch((error: unknown) => {
    const source = path === '-' ? 'Standard input' : `The file ${path}`
    throw new HoldfastError(
      'invalid_payload',
      `${source} can't be read: ${(error as Error).message}.`,
      { path },
      error,
    )
  })
}

/** A payload as typed: all digits are kept, surrounding white space isn't. */
export async function readPayload(argument: string): Promise<RawJson> {
  const body = (await readArgument(argument)).trim()
  encodePayload(parseJson(body, 'The payload', argument), 0)
  return new RawJson(body)
}

/** `argument` is where the text came from: `-`, `@file`, or the text itself. */
export function parseJson(source: string, what: string, argument: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw new HoldfastError('invalid_payload', `${what} isn't JSON${placeOf(error)}. ${adviceFor(argument)}`)
  }
}

function adviceFor(argument: string): string {
  if (argument === '-') return 'It was read from standard input: check what is piped into the command.'
  if (argument.startsWith('@')) return `It was read from the file ${argument.slice(1)}: correct it there.`
  return `Put it in single quotes, like '{"hello":"world"}', or read it from a file with @file.`
}

/** The parser's message quotes the input, which may contain a secret: only the position is shown. */
function placeOf(error: unknown): string {
  const position = /at position (\d+)/.exec((error as Error).message)?.[1]
  return position === undefined ? '' : `: it ends unexpectedly at position ${position}`
}

export async function readJsonObject(argument: string, flag: string): Promise<Record<string, unknown>> {
  const value = parseJson(await readArgument(argument), `The value of ${flag}`, argument)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new HoldfastError('invalid_endpoint', `The value of ${flag} must be a JSON object.`, { flag })
}
