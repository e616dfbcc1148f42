import { spellCommands } from '../input/command-prefix.ts'

/** Lines to copy, for the end of a help text, as the person who reads them starts commands. */
export function examplesText(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${spellCommands(line, process.env)}`)].join('\n')
}

/** Whether this line calls this command: `DATABASE_URL=… holdfast serve` calls `serve`. */
export function isExampleOf(line: string, name: string): boolean {
  return new RegExp(`\\bholdfast ${name}(?: |$)`).test(line)
}
