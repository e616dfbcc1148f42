import type { Command } from 'commander'

/** A command and what may follow it, as a shell needs to know it. */
export interface CommandNode {
  /** `['endpoints', 'list']`; empty for the program itself. */
  readonly path: readonly string[]
  readonly description: string
  readonly subcommands: readonly string[]
  readonly options: readonly { readonly long: string; readonly description: string }[]
}

/** Every command below this one, itself first. */
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
