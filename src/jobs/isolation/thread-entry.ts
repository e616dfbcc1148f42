// The program of a thread that executes handlers.
import { parentPort } from 'node:worker_threads'
import { HandlerHost } from './handler-host.ts'
import type { HandlerOrder } from './protocol.ts'

const host = new HandlerHost((message) => parentPort?.postMessage(message, []))
parentPort?.on('message', (order: HandlerOrder) => host.obey(order))
