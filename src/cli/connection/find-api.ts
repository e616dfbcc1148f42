import { resolve } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'
import { type DevState, readDevState } from '../process/dev-state.ts'
import type { Session } from '../process/session.ts'
import { type Profiles, readProfiles } from './profiles.ts'

export interface FoundApi {
  readonly url: string
  readonly apiKey: string
  /** Where both came from, for a sentence: "the profile "default"". */
  readonly source: string
}

interface Place {
  readonly url: string
  readonly apiKey: string | null
  readonly source: string
}

const usualUrl = 'http://127.0.0.1:8420'

/**
 * The API to talk to: what flags say beats the environment, which beats the profile, which beats the `holdfast dev` of this folder. A stored
 * key goes to the server it was stored for and to no other.
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
  // A profile that was requested by name has its own key, unless a flag gives another.
  const given = named && !isFlag(sources.apiKey) ? null : config.apiKey
  if (place === null) {
    if (given === null) throw nothingFound(session)
    return { url: usualUrl, apiKey: given, source: sources.apiKey ?? 'the API key' }
  }
  const apiKey = given ?? place.apiKey
  if (apiKey !== null) return { ...place, apiKey }
  throw new HoldfastError(
    'no_connection',
    `There is no API key for ${place.url}. Set HOLDFAST_API_KEY, or store one with: holdfast login --api-url ${place.url}`,
    { url: place.url },
  )
}

function givenPlace({ config, sources }: Session, profiles: Profiles, dev: DevState | null): Place | null {
  if (config.apiUrl === null) return null
  const url = withoutSlash(config.apiUrl)
  const stored = [...Object.values(profiles.profiles), ...(dev === null ? [] : [devPlace(dev)])]
  const apiKey = stored.find((each) => each !== null && withoutSlash(each.url) === url)?.apiKey ?? null
  return { url, apiKey, source: sources.apiUrl ?? 'the URL' }
}

function profilePlace({ profiles }: Profiles, name: string | null): Place | null {
  if (name === null) return null
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return { ...profile, source: `the profile "${name}"` }
  const known = Object.keys(profiles)
  throw new HoldfastError(
    'no_connection',
    `There is no profile named "${name}"${known.length > 0 ? `, only ${known.join(', ')}` : ''}. Create one with: holdfast login --profile ${name}`,
    { profile: name },
  )
}

function devPlace(dev: DevState | null): Place | null {
  return dev && { url: dev.apiUrl, apiKey: dev.apiKey, source: 'the `holdfast dev` of this folder' }
}

/** A folder without read permission counts as one without a server; `nothingFound` reports it where it matters. */
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
