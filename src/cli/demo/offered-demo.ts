import type { DemoSwitch } from '../../api/demo-switch.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import type { Session } from '../process/session.ts'
import { Demo } from './demo.ts'
import { pauseDemo } from './ensure-demo.ts'

/** The demo of `dev`, which can be started and stopped while the node runs. One change at a time. */
export class OfferedDemo implements DemoSwitch {
  readonly #session: Session
  readonly #holdfast: Holdfast
  readonly #databaseUrl: string
  #demo: Demo | null = null
  #isPrepared = false
  #isRunning = false
  #changing: Promise<unknown> = Promise.resolve()

  constructor(session: Session, holdfast: Holdfast, databaseUrl: string) {
    this.#session = session
    this.#holdfast = holdfast
    this.#databaseUrl = databaseUrl
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Prepares receivers and endpoints, without traffic; call it before the node starts. */
  prepare(): Promise<void> {
    return this.#change(() => this.#prepared().then(() => undefined))
  }

  start(): Promise<void> {
    return this.#change(async () => {
      if (this.#isRunning) return
      const demo = await this.#prepared()
      this.#isRunning = await demo.start(this.#databaseUrl)
    })
  }

  /** Stops the demo and pauses its endpoints, which have no receiver any more. */
  stop(): Promise<void> {
    return this.#change(async () => {
      if (this.#demo === null) return
      await this.#demo.stopWork()
      await pauseDemo(this.#holdfast)
      await this.#end()
    })
  }

  /** Call it before the node stops. */
  stopWork(): Promise<void> {
    return this.#change(async () => this.#demo?.stopWork())
  }

  close(): Promise<void> {
    return this.#change(() => this.#end())
  }

  async #prepared(): Promise<Demo> {
    // Keep it even if it can't be prepared yet: its receivers are listening already.
    const demo = (this.#demo ??= new Demo(this.#session, this.#holdfast))
    if (!this.#isPrepared) await demo.prepare()
    this.#isPrepared = true
    return demo
  }

  async #end(): Promise<void> {
    await this.#demo?.stop()
    this.#demo = null
    this.#isPrepared = false
    this.#isRunning = false
  }

  #change(work: () => Promise<void>): Promise<void> {
    const next = this.#changing.then(work)
    this.#changing = next.catch(() => {})
    return next
  }
}
