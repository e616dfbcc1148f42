import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Sample, SampleContext } from './row.ts'

export interface SampleRequest {
  row: string
  context: SampleContext
}

export type SampleReply =
  | { kind: 'sample'; sample: Sample }
  | { kind: 'unavailable'; reason: string }
  | { kind: 'failed'; reason: string }

const processPath = fileURLToPath(new URL('./sample-process.ts', import.meta.url))

/** Takes one sample in a process of its own, which is killed when it outlives its time or the run is aborted. */
export function takeSample(
  request: SampleRequest,
  timeoutMs: number,
  signal: AbortSignal,
  nodePath: string = process.execPath,
): Promise<SampleReply> {
  return new Promise((resolve) => {
    const child = fork(processPath, { execPath: nodePath, stdio: ['ignore', 2, 2, 'ipc'] })
    let reply: SampleReply = { kind: 'failed', reason: 'the sample process ended without an answer' }
    const kill = (reason: string) => {
      reply = { kind: 'failed', reason }
      child.kill('SIGKILL')
    }
    const onAbort = () => kill('the run was stopped')
    const timer = setTimeout(() => kill(`no result within ${timeoutMs} ms`), timeoutMs)
    signal.addEventListener('abort', onAbort, { once: true })
    child.on('message', (message) => {
      reply = message as SampleReply
    })
    child.once('error', (error) => kill(error.message))
    child.once('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(reply)
    })
    child.send(request)
  })
}
