import type { Command } from 'commander'
import { HoldfastClient } from '../../client/holdfast-client.ts'
import { HoldfastError } from '../../core/errors.ts'
import { parseJsonToShow } from '../../transforms/exact-json.ts'
import { openSession, type Session } from '../process/session.ts'
import { type FoundApi, findApi } from './find-api.ts'

/** The session of a command that calls the API. */
export interface ApiSession extends Session {
  readonly client: HoldfastClient
  readonly api: FoundApi
}

/**
 * Runs a command that calls the API; connection errors name the next command to run. Responses are parsed so that `Output` writes all digits of a
 * payload; a command that processes payloads passes its own parser.
 */
export async function withApi(
  command: Command,
  work: (session: ApiSession) => Promise<void>,
  parseJson: (text: string) => unknown = parseJsonToShow,
): Promise<void> {
  const session = await openSession(command)
  const api = await findApi(session)
  const client = new HoldfastClient({ url: api.url, apiKey: api.apiKey, parseJson })
  try {
    await work({ ...session, api, client })
  } catch (error) {
    throw explained(error, api)
  }
}

export function explained(error: unknown, api: FoundApi): unknown {
  if (!(error instanceof HoldfastError)) return error
  const next = nextStep(error, api)
  if (next === null) return error
  // A message that ends with a command goes on in a new line.
  const gap = error.message.endsWith('.') ? ' ' : '\n'
  return new HoldfastError(error.code, `${error.message}${gap}${next}`, error.details, error)
}

function nextStep({ code }: HoldfastError, api: FoundApi): string | null {
  const { url, source } = api
  if (code === 'unauthenticated') {
    return (
      `${originOf(api)}\nSign in again with: holdfast login --api-url ${url}\n` +
      'Replace a lost admin key, with access to the database, with: holdfast api-keys create <name> --role admin --local'
    )
  }
  if (code === 'forbidden') return 'See which key this is with: holdfast whoami'
  if (code === 'api_unavailable') return `The URL came from ${source}. Start a server with: holdfast dev`
  return null
}

function originOf({ url, source, keySource }: FoundApi): string {
  return source === keySource
    ? `${url} and its key came from ${source}.`
    : `The key came from ${keySource}, the URL ${url} from ${source}.`
}
