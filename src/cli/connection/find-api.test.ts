import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ConfigFlags, loadConfig } from '../../config/load-config.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { Session } from '../process/session.ts'
import { findApi } from './find-api.ts'
import { writeProfiles } from './profiles.ts'
import { explained } from './with-api.ts'

const url = 'http://127.0.0.1:8420'
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-find-api-'))
  vi.stubEnv('XDG_CONFIG_HOME', folder)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

interface Given {
  readonly flags?: ConfigFlags
  readonly environment?: Readonly<Record<string, string>>
}

/** What a command says when the server rejects the key that it found. */
async function rejection({ flags = {}, environment = {} }: Given): Promise<string> {
  const { config, sources } = await loadConfig({ flags: { dataDir: folder, ...flags }, environment, folder })
  const api = await findApi({ config, sources } as Session)
  const error = explained(new HoldfastError('unauthenticated', 'The key is wrong.'), api)
  return (error as Error).message
}

describe('a rejected key', () => {
  test('is said to come from its own environment variable, not from that of the URL', async () => {
    const environment = { HOLDFAST_URL: url, HOLDFAST_API_KEY: 'hf_wrong' }
    expect(await rejection({ environment })).toContain(
      `The key came from the environment variable HOLDFAST_API_KEY, the URL ${url} from the environment variable HOLDFAST_URL.`,
    )
  })

  test('is said to come from its flag, when the URL is the default', async () => {
    expect(await rejection({ flags: { apiKey: 'hf_wrong' } })).toContain(
      `The key came from the flag --api-key, the URL ${url} from the default settings.`,
    )
  })

  test('is said to come from the profile that was stored for the URL', async () => {
    await writeProfiles(process.env, { current: null, profiles: { staging: { url, apiKey: 'hf_wrong' } } })
    expect(await rejection({ environment: { HOLDFAST_URL: url } })).toContain(
      `The key came from the profile "staging", the URL ${url} from the environment variable HOLDFAST_URL.`,
    )
  })

  test('names one place, if URL and key came from it', async () => {
    const profiles = { staging: { url, apiKey: 'hf_wrong' } }
    await writeProfiles(process.env, { current: 'staging', profiles })
    expect(await rejection({})).toContain(`${url} and its key came from the profile "staging".`)
  })
})
