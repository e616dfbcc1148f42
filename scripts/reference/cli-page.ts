import type { Command } from 'commander'
import { code, table } from './table.ts'

/** Every command with its arguments and options, as in `--help`. */
export function cliPage(program: Command): string {
  const common = table(['option of every command', ''], optionRows(program))
  return [common, ...leavesOf(program, 'holdfast').map(describeCommand)].join('\n\n')
}

interface Leaf {
  readonly path: string
  readonly command: Command
}

function leavesOf(command: Command, path: string): Leaf[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`))
}

function describeCommand({ path, command }: Leaf): string {
  const rows = [
    ...command.registeredArguments.map((argument) => [
      code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
      argument.description,
    ]),
    ...optionRows(command),
  ]
  const parts = [`## ${path}`, sentence(command.description())]
  if (rows.length > 0) parts.push(table(['argument or option', ''], rows))
  return parts.join('\n\n')
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

function optionRows(command: Command): string[][] {
  return command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description }) => [code(flags), description])
}
