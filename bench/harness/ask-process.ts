import { fork } from 'node:child_process'

/**
 * Sends one request to a new process and returns its reply; `onFailure` creates the reply for a process that ended without one. The process is killed
 * at its timeout, or when the run is aborted.
 */
export function askProcess<Reply>(
  processPath: string,
  request: object,
  {
    timeoutMs,
    signal,
    nodePath = process.execPath,
    onFailure,
  }: {
    readonly timeoutMs: number
    readonly signal: AbortSignal
    readonly nodePath?: string | undefined
    readonly onFailure: (reason: string) => Reply
  },
): Promise<Reply> {
  return new Promise((resolve) => {
    const child = fork(processPath, { execPath: nodePath, stdio: ['ignore', 2, 2, 'ipc'] })
    let reply = onFailure('the process ended without an answer')
    const kill = (reason: string) => {
      reply = onFailure(reason)
      child.kill('SIGKILL')
    }
    const onAbort = () => kill('the run was stopped')
    const timer = setTimeout(() => kill(`no result within ${timeoutMs} ms`), timeoutMs)
    signal.addEventListener('abort', onAbort, { once: true })
    child.on('message', (message) => {
      reply = message as Reply
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
