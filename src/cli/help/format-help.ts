import type { Command, Help } from 'commander'

/** The help of a command: description, arguments and subcommands, then the options. Commander would put the options first. */
export function formatHelp(command: Command, helper: Help): string {
  const width = helper.helpWidth ?? 80
  const termWidth = helper.padWidth(command, helper)
  const item = (term: string, description: string) => helper.formatItem(term, termWidth, description, helper)
  const list = (title: string, items: readonly string[]) => helper.formatItemList(title, [...items], helper)
  const subcommands = helper.groupItems(
    [...command.commands],
    helper.visibleCommands(command),
    (each) => each.helpGroup() || 'Commands:',
  )
  const options = helper.groupItems(
    [...command.options],
    helper.visibleOptions(command),
    (option) => option.helpGroupHeading ?? 'Options:',
  )
  const optionItem = (option: Parameters<Help['optionTerm']>[0]) =>
    item(helper.optionTerm(option), helper.optionDescription(option))
  return [
    `Usage: ${helper.commandUsage(command)}`,
    '',
    helper.boxWrap(helper.commandDescription(command), width),
    '',
    ...list(
      'Arguments:',
      helper
        .visibleArguments(command)
        .map((argument) => item(helper.argumentTerm(argument), helper.argumentDescription(argument))),
    ),
    ...[...subcommands].flatMap(([title, commands]) =>
      list(
        title,
        commands.map((each) => item(helper.subcommandTerm(each), helper.subcommandDescription(each))),
      ),
    ),
    ...[...options].flatMap(([title, each]) => list(title, each.map(optionItem))),
    ...list('Options of every command:', helper.visibleGlobalOptions(command).map(optionItem)),
  ].join('\n')
}
