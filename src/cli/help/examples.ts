import { spellCommands } from '../input/command-prefix.ts'

/** Examples for the end of a help text, with the command prefix that the user needs. */
export function examplesText(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${spellCommands(line, process.env)}`)].join('\n')
}

/** Whether this line calls this command: `DATABASE_URL=… holdfast serve` calls `serve`. */
export function isExampleOf(line: string, name: string): boolean {
  return new RegExp(`\\bholdfast ${name}(?: |$)`).test(line)
}
