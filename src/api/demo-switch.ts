/** Starts and stops the demo, if a node offers it. Both are safe to call twice. */
export interface DemoSwitch {
  readonly isRunning: boolean
  start(): Promise<void>
  stop(): Promise<void>
}
