import { exitCode } from '../output/exit-code.ts'
import { isTerminal } from '../output/paint.ts'
import { reportError } from '../output/report-error.ts'
import { buildProgram } from '../program.ts'

/** Runs the command that these words name, reports what goes wrong, and ends the process. */
export async function runProgram(words: readonly string[]): Promise<never> {
  // `holdfast endpoints list | head -1` closes the pipe while we write: that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode.ok)
    throw error
  })
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
  // A command ends when its action ends: a forgotten open handle must not keep the process alive.
  process.exit()
}
