import type { Command } from 'commander'

/** A command with its subcommands and options, for shell completion. */
export interface CommandNode {
  /** `['endpoints', 'list']`; empty for the program itself. */
  readonly path: readonly string[]
  readonly description: string
  readonly subcommands: readonly string[]
  readonly options: readonly { readonly long: string; readonly description: string }[]
}

/** Lists a command and all commands below it. */
export function commandTree(command: Command, path: readonly string[] = []): CommandNode[] {
  const children = command.commands
  return [
    {
      path,
      description: command.description(),
      subcommands: children.map((child) => child.name()),
      options: command.options.flatMap(({ long, description }) => (long ? [{ long, description }] : [])),
    },
    ...children.flatMap((child) => commandTree(child, [...path, child.name()])),
  ]
}
