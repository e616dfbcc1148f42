import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built CLI. */
export const cliPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface CliOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
  /** Another account, for tests that run as root. */
  readonly uid?: number
  /** Instead of the built CLI. */
  readonly command?: readonly [string, ...string[]]
}

export interface CliResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A real `holdfast` process, without the variables that the test's own npm has set. */
export class CliProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #waiters: (() => void)[] = []
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], options: CliOptions = {}) {
    const [program, ...before] = options.command ?? [process.execPath, cliPath]
    this.#child = spawn(program, [...before, ...args], {
      cwd: options.cwd ?? process.cwd(),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
        // With a server of its own a process needs a key for secrets; the embedded one makes its own.
        ...(options.environment?.['HOLDFAST_DATABASE_URL'] !== undefined && {
          HOLDFAST_ENCRYPTION_KEY: process.env['HOLDFAST_ENCRYPTION_KEY'],
        }),
        // Nobody has signed in, whatever the person who runs the tests has done.
        XDG_CONFIG_HOME: join(tmpdir(), 'holdfast-nobody-signed-in'),
        // Whatever else runs on this machine has the usual port.
        HOLDFAST_PORT: '0',
        ...options.environment,
      },
      ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    })
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#wake()
      return code as number | null
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      this.#wake()
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      this.#wake()
    })
    this.#child.stdin?.on('error', () => {})
    this.#child.stdin?.end(options.input ?? '')
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Waits until the stream holds the text; fails with all output when the process ends first. */
  async waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream])
      if (found !== null) return found
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        await this.#ended
        const late = pattern.exec(this[stream])
        if (late !== null) return late
        throw new Error(`ended without ${pattern} in ${stream}:\n${this.stdout}\n${this.stderr}`)
      }
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** As when the command behind a pipe has ended. */
  closePipes(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  async end(): Promise<CliResult> {
    const exitCode = await this.#ended
    return { exitCode, stdout: this.stdout, stderr: this.stderr }
  }

  /** For the end of a test, whatever became of the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL')
    await this.#ended
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake()
  }
}

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new CliProcess(args, options).end()
}
