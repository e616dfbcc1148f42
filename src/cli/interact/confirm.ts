import { createInterface } from 'node:readline/promises'
import { HoldfastError } from '../../core/errors.ts'
import { isTerminal } from '../output/paint.ts'
import type { Session } from '../process/session.ts'

/** Asks for confirmation before a destructive action. Without a terminal, `--yes` is required. */
export async function confirm(
  { output }: Pick<Session, 'output'>,
  what: string,
  isYes: boolean | undefined,
): Promise<void> {
  if (isYes === true) return
  if (!isTerminal(process.stdin) || !isTerminal(process.stderr)) {
    throw new HoldfastError(
      'not_confirmed',
      `${what} There is no terminal to ask for confirmation: repeat the command with --yes to confirm.`,
    )
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const asked = prompt.question(`${what} Continue? ${output.paintMessage('bold', '[y/N]')} `)
    const answer = await asked.catch((error: Error) => {
      // Ctrl-C and Ctrl-D mean no; they leave the cursor behind the question.
      if (error.name !== 'AbortError') throw error
      output.message('')
      return ''
    })
    if (/^y(es)?$/i.test(answer.trim())) return
  } finally {
    prompt.close()
  }
  throw new HoldfastError('not_confirmed', 'Nothing was changed.', { isDeclined: true })
}

export const yesOption = ['--yes', "don't ask for confirmation"] as const
