import { exitCode } from '../output/exit-code.ts'

/** `holdfast endpoints list | head -1` closes the pipe while we write: that is no error. A full disk is one. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode.ok)
    process.stderr.write(`error  The output can't be written: ${error.message}.\n`)
    process.exit(exitCode.failure)
  })
  process.stderr.on('error', () => {})
}

/** Waits until everything is written: a pipe takes 64 KiB at a time, and `process.exit` drops the rest. */
export async function outputWritten(): Promise<void> {
  const streams = [process.stdout, process.stderr]
  await Promise.all(
    streams.map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))),
  )
}

/**
 * For a command that runs until it is stopped. Ctrl-C in `holdfast serve 2>&1 | tee log` ends `tee` first: output then has no reader, but deliveries
 * in flight must still finish.
 */
export function goOnWithoutReader(): void {
  process.stdout.removeAllListeners('error').on('error', () => {})
}
