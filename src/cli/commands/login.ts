import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { HoldfastClient } from '../../client/holdfast-client.ts'
import { HoldfastError } from '../../core/errors.ts'
import { defaultProfile, readProfiles, writeProfiles } from '../connection/profiles.ts'
import { withApi } from '../connection/with-api.ts'
import { askSecret } from '../interact/ask-secret.ts'
import { fieldsOf, formatFields } from '../output/field-list.ts'
import { isTerminal } from '../output/paint.ts'
import { openSession, type Session } from '../process/session.ts'

const usualUrl = 'http://127.0.0.1:8420'

export function registerLogin(program: Command): void {
  program
    .command('login')
    .description('store a server and a key as a profile that only you can read')
    .action(async (_flags: unknown, command: Command) => {
      const session = await openSession(command)
      const { output, config } = session
      const name = config.profile ?? defaultProfile
      const url = (config.apiUrl ?? usualUrl).replace(/\/+$/, '')
      const apiKey = config.apiKey ?? (await readKey(session, url))
      const identity = await new HoldfastClient({ url, apiKey }).access.whoAmI()
      const { profiles } = await readProfiles(process.env)
      const path = await writeProfiles(process.env, {
        current: name,
        profiles: { ...profiles, [name]: { url, apiKey } },
      })
      output.data({ profile: name, url, name: identity.name, role: identity.role }, () => name)
      output.message(`Signed in to ${url} as "${identity.name}" (${identity.role}). Stored in ${path}.`)
    })
  program
    .command('logout')
    .description('remove a profile with its key; the key itself stays valid')
    .action(async (_flags: unknown, command: Command) => {
      const { config, output } = await openSession(command)
      const { current, profiles } = await readProfiles(process.env)
      const name = config.profile ?? current ?? defaultProfile
      const { [name]: forgotten, ...rest } = profiles
      if (forgotten === undefined) {
        throw new HoldfastError(
          'no_connection',
          `There is no profile named "${name}". Create one with: holdfast login --profile ${name}`,
          { profile: name },
        )
      }
      await writeProfiles(process.env, {
        current: current === name ? (Object.keys(rest)[0] ?? null) : current,
        profiles: rest,
      })
      output.data({ profile: name }, () => `${name} removed`)
    })
  program
    .command('whoami')
    .description('show the server and key that commands use here, and the permissions of the key')
    .action((_flags: unknown, command: Command) =>
      withApi(command, async ({ client, output, api }) => {
        const identity = { url: api.url, source: api.source, ...(await client.access.whoAmI()) }
        output.data(identity, () => formatFields(output, fieldsOf(identity)))
      }),
    )
}

/** Never a command-line argument: every user of the machine can see those. */
async function readKey(session: Session, url: string): Promise<string> {
  const key = isTerminal(process.stdin)
    ? await askSecret(`API key for ${url}: `)
    : (await text(process.stdin)).trim()
  if (key !== '') return key
  throw new HoldfastError(
    'no_connection',
    `No key was given. Pipe it in (${session.prefix} login < key-file), or set HOLDFAST_API_KEY.`,
  )
}
