import { startProcess, startThread } from '../start-program.ts'
import { errorText } from '../thrown-text.ts'
import type { Isolation } from './isolation.ts'
import { type HandlerMessage, type HandlerOrder, messageOf } from './protocol.ts'

/** Why a thread or process ended by itself. */
export interface RunnerEnd {
  readonly code: 'out_of_memory' | 'handler_exited' | 'handler_crashed'
  readonly error: string
}

export interface RunnerEvents {
  onMessage(message: HandlerMessage): void
  /** Called once. */
  onEnd(end: RunnerEnd): void
}

/** A thread or process that executes handlers, as the worker sees it. */
export interface HandlerRunner {
  /** Throws when the order can't be sent. */
  send(order: HandlerOrder): void
  /** Ends the thread or process at once, whatever it does. */
  kill(): void
  /** Whether the runner keeps the worker's process alive. */
  hold(isHeld: boolean): void
}

export function startRunner(isolation: Isolation, events: RunnerEvents): HandlerRunner {
  return isolation.kind === 'thread'
    ? startHandlerThread(isolation, events)
    : startHandlerProcess(isolation, events)
}

function outOfMemory(what: string, { memoryLimitMb }: Isolation): RunnerEnd {
  return {
    code: 'out_of_memory',
    error: `The ${what} of the handler needed more than its memory limit of ${memoryLimitMb} MB.`,
  }
}

/** A thread may have thrown any value. */
function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function receive(sent: unknown, events: RunnerEvents): void {
  const message = messageOf(sent)
  if (message !== null) events.onMessage(message)
}

function startHandlerThread(isolation: Isolation, events: RunnerEvents): HandlerRunner {
  const thread = startThread('./isolation/thread-entry', {
    resourceLimits: { maxOldGenerationSizeMb: isolation.memoryLimitMb },
  })
  let end: RunnerEnd | null = null
  thread.on('message', (sent: unknown) => receive(sent, events))
  thread.on('error', (thrown: unknown) => {
    end = isOutOfMemory(thrown)
      ? outOfMemory('thread', isolation)
      : { code: 'handler_crashed', error: errorText(thrown) }
  })
  thread.once('exit', (code) => {
    events.onEnd(end ?? { code: 'handler_exited', error: `The handler ended its thread with code ${code}.` })
  })
  return {
    send: (order) => thread.postMessage(order, []),
    kill: () => void thread.terminate(),
    hold: (isHeld) => (isHeld ? thread.ref() : thread.unref()),
  }
}

function startHandlerProcess(isolation: Isolation, events: RunnerEvents): HandlerRunner {
  const child = startProcess('./isolation/process-entry', [`--max-old-space-size=${isolation.memoryLimitMb}`])
  let hasEnded = false
  const tell = (end: RunnerEnd) => {
    if (!hasEnded) events.onEnd(end)
    hasEnded = true
  }
  // Messages that were sent before the end may not have been read yet.
  const onEnd = (end: RunnerEnd) => {
    if (child.connected) child.once('disconnect', () => tell(end))
    else tell(end)
  }
  child.on('message', (sent) => receive(sent, events))
  child.on('error', (error) =>
    onEnd({ code: 'handler_crashed', error: `The process of the handler: ${error.message}` }),
  )
  child.once('exit', (code, signal) => {
    // How Node.js exits at its heap limit.
    if (signal === 'SIGABRT' || code === 134) onEnd(outOfMemory('process', isolation))
    else if (signal !== null)
      onEnd({ code: 'handler_crashed', error: `The process of the handler was ended by ${signal}.` })
    else onEnd({ code: 'handler_exited', error: `The handler ended its process with code ${code}.` })
  })
  return {
    send: (order) => void child.send(order, () => {}),
    kill: () => void child.kill('SIGKILL'),
    hold: (isHeld) => {
      if (isHeld) {
        child.ref()
        child.channel?.ref()
      } else {
        child.unref()
        child.channel?.unref()
      }
    },
  }
}
