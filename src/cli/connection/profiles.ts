import { chmod, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { HoldfastError } from '../../core/errors.ts'
import { writePrivateFile } from '../../postgres/embedded/cluster.ts'
import { makeFolder } from '../../postgres/embedded/make-folder.ts'

const profile = z.object({ url: z.string(), apiKey: z.string() })
const profilesFile = z.object({ current: z.string().nullable(), profiles: z.record(z.string(), profile) })

export type Profile = Readonly<z.infer<typeof profile>>
export interface Profiles {
  /** Used if no profile is named. */
  readonly current: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

type Environment = Readonly<Record<string, string | undefined>>

export const defaultProfile = 'default'

export function profilesPath(environment: Environment): string {
  const base = environment['XDG_CONFIG_HOME'] ?? ''
  return join(base === '' ? join(homedir(), '.config') : base, 'holdfast', 'profiles.json')
}

/** Empty before the first sign-in. */
export async function readProfiles(environment: Environment): Promise<Profiles> {
  const path = profilesPath(environment)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // Another user's home directory, as under `sudo -u`, has no profile for us.
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) return null
    throw unreadable(path, error)
  })
  if (text === null) return { current: null, profiles: {} }
  // The file contains keys: if others can read it, correct its mode.
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600).catch(() => {})
  try {
    return profilesFile.parse(JSON.parse(text))
  } catch (error) {
    throw unreadable(path, error)
  }
}

export async function writeProfiles(environment: Environment, profiles: Profiles): Promise<string> {
  const path = profilesPath(environment)
  await makeFolder(dirname(path), 0o700)
  await writePrivateFile(path, `${JSON.stringify(profiles, null, 2)}\n`)
  return path
}

function unreadable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'configuration_invalid',
    `The profiles in ${path} can't be read: ${(cause as Error).message.split('\n', 1)[0]}. Fix or delete the file, then run: holdfast login`,
    { path },
    cause,
  )
}
