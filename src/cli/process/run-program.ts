import { isTerminal } from '../output/paint.ts'
import { reportError } from '../output/report-error.ts'
import { buildProgram } from '../program.ts'
import { endWithReader, outputWritten } from './closed-output.ts'

/** Runs the command, reports errors, and ends the process. */
export async function runProgram(words: readonly string[]): Promise<never> {
  endWithReader()
  try {
    const program = await buildProgram(words)
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    const report = reportError(error, {
      isJson: words.includes('--json'),
      isTerminal: isTerminal(process.stderr),
      environment: process.env,
    })
    process.stderr.write(report.text)
    process.exitCode = report.exitCode
  }
  await outputWritten()
  // The process ends with the command's action: a forgotten open handle must not keep it alive.
  process.exit()
}
