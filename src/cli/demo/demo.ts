import { HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import type { Session } from '../process/session.ts'
import { DemoJobs } from './demo-jobs.ts'
import { DemoReceivers } from './demo-receivers.ts'
import { DemoTraffic } from './demo-traffic.ts'
import { ensureDemo } from './ensure-demo.ts'

/** Receivers of every kind, routes to them, jobs, and traffic. */
export class Demo {
  readonly #session: Session
  readonly #holdfast: Holdfast
  readonly #receivers = new DemoReceivers()
  readonly #traffic: DemoTraffic
  readonly #jobs: DemoJobs
  #isPrepared = false

  constructor(session: Session, holdfast: Holdfast) {
    this.#session = session
    this.#holdfast = holdfast
    const { logger } = session
    this.#traffic = new DemoTraffic({ publish: (events) => holdfast.publishBatch(events), logger })
    this.#jobs = new DemoJobs(session, holdfast)
  }

  /** Call it before the node starts. */
  async prepare(): Promise<void> {
    const { output } = this.#session
    await this.#receivers.start()
    try {
      const taken = await ensureDemo(this.#holdfast, this.#receivers.url)
      this.#isPrepared = true
      if (taken.length === 0) return
      output.warn(`These endpoints already exist, so the demo does not use them: ${taken.join(', ')}`)
    } catch (error) {
      // HOLDFAST_ALLOW_NETWORKS=none is a valid choice: start without the demo.
      if (!(error instanceof HoldfastError) || error.code !== 'invalid_endpoint') throw error
      output.warn(`The demo could not start: ${error.message}`)
    }
  }

  /** False if receivers on loopback aren't allowed. */
  async start(databaseUrl: string): Promise<boolean> {
    if (!this.#isPrepared) return false
    this.#traffic.start()
    await this.#jobs.start(databaseUrl)
    return true
  }

  /** Call it before the node stops: deliveries in flight may still arrive. */
  async stopWork(): Promise<void> {
    await Promise.all([this.#traffic.stop(), this.#jobs.stop()])
  }

  async stop(): Promise<void> {
    await this.stopWork()
    await this.#receivers.stop()
  }
}
