import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Sink {
  url: string
  received(): Promise<number>
  stop(): Promise<void>
}

const sinkPath = fileURLToPath(new URL('./sink-process.ts', import.meta.url))

/** Starts the sink on a free port of the loopback interface. It also ends when its parent is gone. */
export async function startSink(): Promise<Sink> {
  const child: ChildProcess = fork(sinkPath, { stdio: ['ignore', 2, 2, 'ipc'] })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    url: `http://127.0.0.1:${port}`,
    async received() {
      const reply = once(child, 'message')
      child.send('count')
      const [{ received }] = (await reply) as [{ received: number }]
      return received
    },
    async stop() {
      const closed = once(child, 'exit')
      child.disconnect()
      await closed
    },
  }
}
