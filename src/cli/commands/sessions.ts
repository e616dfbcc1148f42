import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOf } from '../output/count-of.ts'

export function registerSessions(program: Command): void {
  const sessions = program.command('sessions').description('browser sessions')
  sessions
    .command('end')
    .description('end all browser sessions and all unused sign-in links')
    .option('--key <id>', 'only sessions of this API key, as `api-keys list` shows it')
    .option(...yesOption)
    .action((flags: { key?: string; yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        const who =
          flags.key === undefined ? 'everybody' : `everybody who signed in with the API key ${flags.key}`
        await confirm(session, `This signs out ${who}.`, flags.yes)
        const query = flags.key === undefined ? {} : { keyId: flags.key }
        const { ended } = await session.client.access.endSessions({ query })
        session.output.data({ ended }, () => `${countOf(ended, 'sessions')} ended`)
      }),
    )
}
