import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { type Role, roles } from '../../core/access/roles.ts'
import { HoldfastError } from '../../core/errors.ts'
import { withApi } from '../connection/with-api.ts'
import { duration } from '../input/option-parsers.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'
import { openSession, type Session } from '../process/session.ts'

interface CreateFlags {
  readonly role?: string
  readonly expiresIn?: number
  readonly local?: boolean
}

export function registerApiKeys(program: Command): void {
  const keys = program.command('api-keys').description('keys for the API')
  addList(keys, {
    description: 'list API keys',
    operation: operations.access.listKeys,
    columns: (output) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', canShrink: true, value: ({ name }) => printable(name) },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'CREATED', isExtra: true, value: ({ createdAt }) => output.when(createdAt) },
      { title: 'EXPIRES', value: ({ expiresAt }) => output.when(expiresAt) },
      { title: 'LAST USED', value: ({ lastUsedAt }) => output.when(lastUsedAt) },
      {
        title: 'REVOKED',
        value: ({ revokedAt }) => (revokedAt === null ? '' : output.paintData('red', output.when(revokedAt))),
      },
    ],
    nothing: (prefix) =>
      `There are no API keys. Create one with: ${prefix} api-keys create <name> --role publisher`,
  })
  registerCreate(keys)
  keys
    .command('revoke')
    .description('revoke a key; it stops working within seconds')
    .argument('<id>', 'as `api-keys list` shows it')
    .option(...yesOption)
    .action((id: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(session, `This revokes the API key ${id}: its user loses access.`, flags.yes)
        const revoked = await session.client.access.revokeKey({ params: { id } })
        session.output.data(revoked, () => `${id} revoked`)
      }),
    )
}

function registerCreate(keys: Command): void {
  keys
    .command('create')
    .description('create an API key and print it; it can not be shown again')
    .argument('[name]', 'who uses it')
    .option('--role <role>', `${roles.join(', ')} (with --local: admin)`)
    .option('--expires-in <time>', 'like 90d; without it the key does not expire', duration)
    .option('--local', 'write it directly to the database, without an API key: for a lost admin key')
    .action(async (name: string | undefined, flags: CreateFlags, command: Command) => {
      if (flags.local === true) {
        await createLocally(await openSession(command), name, flags)
        return
      }
      await withApi(command, async ({ client, output }) => {
        if (name === undefined)
          throw new HoldfastError('invalid_options', 'Name the key after the person or program that uses it.')
        const body = { name, role: roleOf(flags.role), expiresInMs: flags.expiresIn ?? null }
        const created = await client.access.createKey({ body })
        output.data(created, () => created.key)
        if (!output.isJson) output.message('This is the only time it is shown.')
      })
    })
}

async function createLocally(session: Session, name: string | undefined, flags: CreateFlags): Promise<void> {
  const input = {
    name: name ?? `admin-${Date.now().toString(36)}`,
    role: roleOf(flags.role ?? 'admin'),
    expiresInMs: flags.expiresIn ?? null,
  }
  // Load the engine only for this case.
  const { withHoldfast } = await import('../process/find-database.ts')
  const created = await withHoldfast(session, (holdfast) => holdfast.apiKeys.create(input))
  session.output.data(created, () => created.key)
  if (session.output.isJson) return
  session.output.message(`This is the only time it is shown. Use it with: ${session.prefix} login`)
}

function roleOf(text: string | undefined): Role {
  const role = roles.find((each) => each === text)
  if (role !== undefined) return role
  throw new HoldfastError('invalid_options', `Give --role ${roles.join(', or ')}.`)
}
