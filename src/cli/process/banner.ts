import { relative } from 'node:path'
import type { EmbeddedPostgres } from '../../postgres/embedded/start-embedded-postgres.ts'
import { version } from '../../version.ts'
import { adminKeyFile } from '../api/admin-key.ts'
import { demoEndpointNames } from '../demo/demo-plan.ts'
import { demoEventsPerSecond } from '../demo/demo-traffic.ts'
import { isTerminal } from '../output/paint.ts'
import type { Session } from './session.ts'

export interface BannerFacts {
  readonly server: EmbeddedPostgres | null
  readonly inboxUrl: string
  readonly apiUrl: string
  /** Works once. */
  readonly signInUrl: string
  /** Shown if it was created at this start. */
  readonly newKey: string | null
  readonly isDemo: boolean
}

/** Shows the key itself only on a terminal, because logs are stored. */
function keyLine(key: string, file: string, dim: (text: string) => string): string {
  return isTerminal(process.stderr) ? `${key} ${dim(`shown once; stored in ${file}`)}` : `in ${file}`
}

/** Prints what to do next, as commands that can be copied. */
export function printBanner({ output, config, prefix }: Session, facts: BannerFacts): void {
  const { server, inboxUrl, apiUrl, signInUrl, newKey, isDemo } = facts
  const bold = (text: string) => output.paintMessage('bold', text)
  const dim = (text: string) => output.paintMessage('dim', text)
  const cyan = (text: string) => output.paintMessage('cyan', text)
  const keyFile = relative(process.cwd(), adminKeyFile(config.dataDir))
  const database =
    server === null
      ? 'the PostgreSQL of HOLDFAST_DATABASE_URL'
      : `embedded PostgreSQL ${server.version} on port ${server.port}, data in ${config.dataDir}`
  const lines = [
    '',
    `${bold('Holdfast')} ${version} is running. ${dim('Stop it with Ctrl-C.')}`,
    '',
    `  open      ${bold(signInUrl)} ${dim('sign-in link, works once')}`,
    `  api       ${apiUrl} ${dim('documented at /docs')}`,
    `  inbox     ${inboxUrl} ${dim('shows what it receives')}`,
    `  database  ${database}`,
    ...(isDemo
      ? [`  demo      ${demoEndpointNames.join(', ')}: ${demoEventsPerSecond} events a second`]
      : []),
    `  key       ${newKey === null ? `in ${keyFile}` : keyLine(newKey, keyFile, dim)}`,
    '',
    'In another terminal, in this folder, publish the first event:',
    '',
    `  ${cyan(`curl ${apiUrl}/v1/events -H "Authorization: Bearer $(cat ${keyFile})" \\`)}`,
    `    ${cyan(`-H 'Content-Type: application/json' -d '{"type":"hello.world","payload":{"hello":"world"}}'`)}`,
    '',
    'or with the command line:',
    '',
    `  ${cyan(`${prefix} send inbox '{"hello":"world"}'`)}`,
    `  ${cyan(`${prefix} endpoints list`)}`,
    `  ${cyan(`${prefix} endpoints create crm --url https://example.com/hooks`)}`,
    `  ${cyan(`${prefix} doctor`)}`,
    '',
  ]
  output.message(lines.join('\n'))
}
