// The program of a process that executes handlers.
import { Worker as Thread } from 'node:worker_threads'
import { HandlerHost } from './handler-host.ts'
import type { HandlerMessage, HandlerOrder, SentMessage } from './protocol.ts'

const host = new HandlerHost((message) => send(message))

function send(message: HandlerMessage, done: () => void = () => {}): void {
  process.send?.({ holdfast: message } satisfies SentMessage, undefined, undefined, done)
}

process.on('message', (order: HandlerOrder) => host.obey(order))
process.on('disconnect', () => process.exit())

const leave = (error: unknown) => {
  host.crash(error)
  // Exit after the messages before it have been sent.
  send({ kind: 'news', lines: [], progress: null }, () => process.exit(1))
}
process.on('uncaughtException', leave)
process.on('unhandledRejection', leave)

// A handler that never yields doesn't notice that its worker is gone: without this thread it would run for ever.
const parentPid = process.ppid
const guard = new Thread(
  `setInterval(() => { if (process.ppid !== ${parentPid}) process.kill(process.pid, 'SIGKILL') }, 1000)`,
  { eval: true, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 16 } },
)
guard.unref()
