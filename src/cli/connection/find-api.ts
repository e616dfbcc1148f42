import { resolve } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'
import { type DevState, readDevState } from '../process/dev-state.ts'
import type { Session } from '../process/session.ts'
import { type Profile, type Profiles, readProfiles } from './profiles.ts'

export interface FoundApi {
  readonly url: string
  readonly apiKey: string
  /** Where the URL comes from, for messages: "the profile "default"". */
  readonly source: string
  /** Where the key comes from; the same text if both come from one place. */
  readonly keySource: string
}

interface Place {
  readonly url: string
  readonly source: string
  readonly stored: StoredKey | null
}

interface StoredKey {
  readonly apiKey: string
  readonly keySource: string
}

const usualUrl = 'http://127.0.0.1:8420'

/**
 * Finds the API to call. Precedence: flags, the environment, the profile, the `holdfast dev` of this folder. A stored key is sent only to the server
 * that it was stored for.
 */
export async function findApi(session: Session): Promise<FoundApi> {
  const { config, sources } = session
  const profiles = await readProfiles(process.env)
  const dev = await findDev(session)
  const isFlag = (source: string | undefined) => source?.startsWith('the flag') === true
  const named = isFlag(sources.profile) && !isFlag(sources.apiUrl)
  const place = named
    ? profilePlace(profiles, config.profile)
    : (givenPlace(session, profiles, dev) ??
      profilePlace(profiles, config.profile ?? profiles.current) ??
      devPlace(dev))
  // A profile requested by name uses its own key, unless a flag gives another.
  const given = named && !isFlag(sources.apiKey) ? null : config.apiKey
  if (place === null) {
    if (given === null) throw nothingFound(session)
    return { url: usualUrl, apiKey: given, source: 'the default settings', keySource: keySourceOf(session) }
  }
  const { url, source, stored } = place
  if (given !== null) return { url, source, apiKey: given, keySource: keySourceOf(session) }
  if (stored !== null) return { url, source, ...stored }
  throw new HoldfastError(
    'no_connection',
    `There is no API key for ${url}. Set HOLDFAST_API_KEY, or store one with: holdfast login --api-url ${url}`,
    { url },
  )
}

function givenPlace({ config, sources }: Session, profiles: Profiles, dev: DevState | null): Place | null {
  if (config.apiUrl === null) return null
  const url = withoutSlash(config.apiUrl)
  const places = [
    ...Object.keys(profiles.profiles).map((name) => profilePlace(profiles, name)),
    devPlace(dev),
  ]
  const stored = places.find((each) => each !== null && withoutSlash(each.url) === url)?.stored ?? null
  return { url, source: sources.apiUrl ?? 'the URL', stored }
}

function keySourceOf({ sources }: Session): string {
  return sources.apiKey ?? 'the API key'
}

function profilePlace({ profiles }: Profiles, name: string | null): Place | null {
  if (name === null) return null
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return placeOf(profile, `the profile "${name}"`)
  const known = Object.keys(profiles)
  throw new HoldfastError(
    'no_connection',
    `There is no profile named "${name}"${known.length > 0 ? `, only ${known.join(', ')}` : ''}. Create one with: holdfast login --profile ${name}`,
    { profile: name },
  )
}

function devPlace(dev: DevState | null): Place | null {
  return dev && placeOf({ url: dev.apiUrl, apiKey: dev.apiKey }, 'the `holdfast dev` of this folder')
}

function placeOf({ url, apiKey }: Profile, source: string): Place {
  return { url, source, stored: { apiKey, keySource: source } }
}

/** A folder without read permission counts as one without a server; `nothingFound` reports it if relevant. */
async function findDev({ config }: Session): Promise<DevState | null> {
  return readDevState(config.dataDir).catch(() => null)
}

function nothingFound({ config }: Session): HoldfastError {
  return new HoldfastError(
    'no_connection',
    `No server was found: HOLDFAST_URL isn't set, there is no profile from \`holdfast login\`, and no server runs on ` +
      `${resolve(config.dataDir)}. Start one in another terminal with: holdfast dev`,
    { dataDir: config.dataDir },
  )
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
