import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { commandTree } from '../completion/command-tree.ts'
import { completionScript, shells } from '../completion/completion-script.ts'

/** Register it after all other commands: it lists them. */
export function registerCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .argument('<shell>', shells.join(', '))
    .action((given: string) => {
      const shell = shells.find((each) => each === given)
      if (shell === undefined) {
        throw new HoldfastError(
          'invalid_options',
          `There is no completion for "${given}": use ${shells.join(', ')}.`,
        )
      }
      process.stdout.write(`${completionScript(shell, commandTree(program))}\n`)
    })
}
