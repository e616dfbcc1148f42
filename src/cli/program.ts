import { Command } from 'commander'
import { version } from '../version.ts'
import { registerCompletion } from './commands/completion.ts'
import { commandGroups, commandList } from './help/command-list.ts'
import { examplesText, isExampleOf } from './help/examples.ts'
import { formatHelp } from './help/format-help.ts'

const helpAfter = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused, 5 server or
database unavailable, 6 database unfit, 7 not allowed.
Settings come from flags, then HOLDFAST_… variables, then holdfast.config.json
(or .mjs, .js). More about a command: holdfast <command> --help`

export const firstExamples: readonly string[] = [
  'holdfast dev --demo',
  `holdfast events publish order.created '{"id":17}'`,
  'holdfast endpoints list --state rejecting',
  'holdfast dead-letters groups',
]

/**
 * Builds the command line: all of it or, given its arguments, only the command that they can mean. Then only that module is loaded: `runs list`
 * shouldn't wait for the engine behind `serve`. Errors are thrown; it never exits.
 */
export async function buildProgram(words?: readonly string[]): Promise<Command> {
  const program = createProgram()
  // An option's value before the command can hide it (`--profile prod endpoints list`): then load all commands.
  const first = words?.[0]
  const called = commandList.filter(({ names }) => first !== undefined && names.includes(first))
  for (const { names, group, load, examples } of called.length > 0 ? called : commandList) {
    program.commandsGroup(commandGroups[group])
    const register = await load()
    register(program)
    for (const name of names) {
      const command = program.commands.find((each) => each.name() === name)
      command?.addHelpText('after', examplesText(examples.filter((line) => isExampleOf(line, name))))
    }
  }
  if (called.length > 0) return program
  registerCompletion(program)
  return program.helpCommand('help [command]', 'show the help of a command')
}

function createProgram(): Command {
  return new Command('holdfast')
    .description('Reliable delivery of events, webhooks and background jobs, on PostgreSQL. Nothing lost.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .option('--json', 'print data as JSON')
    .optionsGroup('Which server:')
    .option('--api-url <url>', 'the URL of the API (HOLDFAST_URL)')
    .option('--api-key <key>', 'the API key (HOLDFAST_API_KEY; other users can see arguments)')
    .option(
      '--profile <name>',
      'a server that you have signed in to with `holdfast login` (HOLDFAST_PROFILE)',
    )
    .option('--database-url <url>', 'the PostgreSQL server (HOLDFAST_DATABASE_URL)')
    .option('--data-dir <folder>', "the embedded server's data (HOLDFAST_DATA_DIR, default .holdfast)")
    .option('--config-file <path>', 'instead of holdfast.config.json, .mjs or .js')
    .optionsGroup('Network and logs:')
    .option(
      '--allow-networks <networks>',
      'private networks that deliveries may connect to, like 10.0.0.0/8, or none (HOLDFAST_ALLOW_NETWORKS)',
    )
    .option(
      '--trusted-proxies <networks>',
      'reverse proxies in front of the API whose X-Forwarded-For is trusted, like 10.0.0.0/8 (HOLDFAST_TRUSTED_PROXIES)',
    )
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent (HOLDFAST_LOG_LEVEL)')
    .option('--log-format <format>', 'pretty or json (HOLDFAST_LOG_FORMAT)')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name(), formatHelp })
    .showHelpAfterError('(Add --help to see the options.)')
    .exitOverride()
    .addHelpText('after', examplesText(firstExamples))
    .addHelpText('after', helpAfter)
}
