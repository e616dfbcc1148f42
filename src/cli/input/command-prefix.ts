import { commandList } from '../help/command-list.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How the person who started this process starts the next command, word for word. */
export function commandPrefix(environment: Environment): string {
  if (environment['npm_command'] === 'exec') return 'npx holdfast'
  const isOwnScript =
    environment['npm_package_name'] === 'holdfast' && environment['npm_lifecycle_event'] !== undefined
  return isOwnScript ? 'npm run -s holdfast --' : 'holdfast'
}

const commands = [...commandList.flatMap(({ names }) => names), 'completion'].join('|')
const commandInText = new RegExp(`\\bholdfast (?=(?:${commands})\\b)`, 'g')

/** Errors name commands as `holdfast …`; from a clone that has to read `npm run -s holdfast -- …`. */
export function spellCommands(text: string, environment: Environment): string {
  return text.replace(commandInText, `${commandPrefix(environment)} `)
}
