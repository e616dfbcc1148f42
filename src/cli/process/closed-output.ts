import { exitCode } from '../output/exit-code.ts'

/** `holdfast endpoints list | head -1` closes the pipe while we write: that is no error. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode.ok)
    throw error
  })
  process.stderr.on('error', () => {})
}

/**
 * For a command that runs until it is stopped. Ctrl-C in `holdfast serve 2>&1 | tee log` ends `tee` first: output then has no reader, but deliveries
 * in flight must still finish.
 */
export function goOnWithoutReader(): void {
  process.stdout.removeAllListeners('error').on('error', () => {})
}
