/** What starts and stops the demo, where a node offers it. Both may be called twice. */
export interface DemoSwitch {
  readonly isRunning: boolean
  start(): Promise<void>
  stop(): Promise<void>
}
