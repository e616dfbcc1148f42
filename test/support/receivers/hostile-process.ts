import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { HostileName } from './hostile-behaviours.ts'

const entryFile = fileURLToPath(new URL('./hostile-entry.ts', import.meta.url))

export interface HostileReport {
  /** Connections that the sender hasn't let go of. */
  readonly open: number
  readonly writtenBytes: number
}

/** Receivers that mean harm, in a process of their own. */
export class HostileProcess {
  readonly #child: ChildProcess
  readonly #ports: { port: number; resettingPort: number; babblingPort: number }

  private constructor(child: ChildProcess, ports: HostileProcess['ports']) {
    this.#child = child
    this.#ports = ports
  }

  static async start(): Promise<HostileProcess> {
    const child = fork(entryFile, { execArgv: ['--import', 'tsx'] })
    const [ports] = (await once(child, 'message')) as [HostileProcess['ports']]
    return new HostileProcess(child, ports)
  }

  get ports(): { port: number; resettingPort: number; babblingPort: number } {
    return this.#ports
  }

  urlOf(name: HostileName): string {
    return `http://127.0.0.1:${this.#ports.port}/${name}`
  }

  async report(): Promise<HostileReport> {
    const answered = once(this.#child, 'message')
    this.#child.send('report')
    const [report] = (await answered) as [HostileReport]
    return report
  }

  /** Polls until the sender holds no connection any more. */
  async whenDisconnected(deadlineMs = 5_000): Promise<void> {
    const endsAtMs = performance.now() + deadlineMs
    for (;;) {
      const { open } = await this.report()
      if (open === 0) return
      if (performance.now() > endsAtMs) throw new Error(`${open} connections are still open`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }
}
