import type { DemoSwitch } from '../../api/demo-switch.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import type { Session } from '../process/session.ts'
import { Demo } from './demo.ts'
import { pauseDemo } from './ensure-demo.ts'

/** The demo of `dev`, to be started and stopped while the node runs. One change at a time. */
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

  /** Its receivers and endpoints, without traffic yet: before the node starts. */
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

  /** Its endpoints are paused, because they have no receiver any more. */
  stop(): Promise<void> {
    return this.#change(async () => {
      if (this.#demo === null) return
      await this.#demo.stopWork()
      await pauseDemo(this.#holdfast)
      await this.#end()
    })
  }

  /** Before the node stops. */
  stopWork(): Promise<void> {
    return this.#change(async () => this.#demo?.stopWork())
  }

  close(): Promise<void> {
    return this.#change(() => this.#end())
  }

  async #prepared(): Promise<Demo> {
    // Kept also when it can't be prepared yet: its receivers listen already.
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
