// The program of a thread that executes handlers.
import { parentPort } from 'node:worker_threads'
import { HandlerHost } from './handler-host.ts'
import type { HandlerMessage, HandlerOrder, SentMessage } from './protocol.ts'

function send(message: HandlerMessage): void {
  parentPort?.postMessage({ holdfast: message } satisfies SentMessage, [])
}

const host = new HandlerHost(send)
parentPort?.on('message', (order: HandlerOrder) => host.obey(order))
