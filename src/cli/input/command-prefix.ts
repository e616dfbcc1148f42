import { commandList } from '../help/command-list.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How the user started this process, for commands in messages. */
export function commandPrefix(environment: Environment): string {
  if (environment['npm_command'] === 'exec') return 'npx holdfast'
  const isOwnScript =
    environment['npm_package_name'] === 'holdfast' && environment['npm_lifecycle_event'] !== undefined
  return isOwnScript ? 'npm run -s holdfast --' : 'holdfast'
}

const commands = [...commandList.flatMap(({ names }) => names), 'completion'].join('|')
const commandInText = new RegExp(`\\bholdfast (?=(?:${commands})\\b)`, 'g')

/** Messages name commands as `holdfast …`; in a checkout these become `npm run -s holdfast -- …`. */
export function spellCommands(text: string, environment: Environment): string {
  return text.replace(commandInText, `${commandPrefix(environment)} `)
}
