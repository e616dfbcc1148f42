import type { EmbeddedPostgres } from '../postgres/embedded/start-embedded-postgres.ts'
import { version } from '../version.ts'
import type { Session } from './session.ts'

export interface BannerFacts {
  readonly server: EmbeddedPostgres | null
  readonly inboxUrl: string
}

/** What to do next, in words that can be copied as they stand. */
export function printBanner({ output, config, prefix }: Session, { server, inboxUrl }: BannerFacts): void {
  const bold = (text: string) => output.paintMessage('bold', text)
  const dim = (text: string) => output.paintMessage('dim', text)
  const command = (text: string) => output.paintMessage('cyan', `${prefix} ${text}`)
  const database =
    server === null
      ? 'the PostgreSQL of HOLDFAST_DATABASE_URL'
      : `embedded PostgreSQL ${server.version} on port ${server.port}, data in ${config.dataDir}`
  const lines = [
    '',
    `${bold('Holdfast')} ${version} is running. ${dim('Stop it with Ctrl-C.')}`,
    '',
    `  database  ${database}`,
    `  inbox     ${inboxUrl} ${dim('shows what it has received')}`,
    '',
    server === null
      ? 'In another terminal, with the same HOLDFAST_DATABASE_URL:'
      : 'In another terminal, in this folder:',
    '',
    `  ${command(`send inbox '{"hello":"world"}'`)}`,
    `  ${command('endpoints list')}`,
    `  ${command('endpoints create crm --url https://example.com/hooks')}`,
    `  ${command('doctor')}`,
    '',
  ]
  output.message(lines.join('\n'))
}
