import { setTimeout as wait } from 'node:timers/promises'
import type { ResultOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import type { ApiSession } from '../connection/with-api.ts'
import { exitCode } from '../output/exit-code.ts'
import { isTerminal } from '../output/paint.ts'
import { printable } from '../output/table.ts'

export type BulkOperation = ResultOf<Operations['operations']['get']>

const pollMs = 500
const barWidth = 30
const lettersAreSkipped: ReadonlySet<string> = new Set(['redrive', 'resolve', 'discard'])

export const noWaitOption = ['--no-wait', "start it and don't wait until it ends"] as const

/** Shows the progress of an operation until it ends or pauses. Ctrl-C ends only the display, not the operation. */
export async function followOperation(session: ApiSession, first: BulkOperation): Promise<void> {
  const { client, output, prefix } = session
  const isScreen = isTerminal(process.stderr) && !output.isJson
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  let operation = first
  while (operation.state === 'running' && !stop.signal.aborted) {
    if (isScreen) process.stderr.write(`\r${progressLine(operation)}\u001b[K`)
    await wait(pollMs, undefined, { signal: stop.signal }).catch(() => {})
    operation = await client.operations.get({ params: { id: first.id } })
  }
  if (isScreen) process.stderr.write('\r\u001b[K')
  output.data(operation, () => describeOperation(operation))
  if (operation.skipped > 0 && lettersAreSkipped.has(operation.kind) && !output.isJson)
    output.message(`Which were skipped, and why: ${prefix} operations skipped ${first.id}`)
  if (operation.state === 'failed') process.exitCode = exitCode.failure
  if (operation.state === 'running' && !output.isJson) {
    output.message(`It continues in the background. Follow it with: ${prefix} operations watch ${first.id}`)
  }
}

/** @example '[##########--------------------]  33%  340 of 1000' */
export function progressLine(progress: Progress): string {
  const filled = Math.round(shareOf(progress) * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${shareLine(progress)}`
}

/** @example ' 33%  340 of 1000' */
export function shareLine(progress: Progress): string {
  const { done, skipped } = progress
  return `${String(Math.floor(shareOf(progress) * 100)).padStart(3)}%  ${done + skipped} of ${totalText(progress)}`
}

type Progress = Pick<BulkOperation, 'done' | 'skipped' | 'total' | 'isTotalExact'>

function shareOf({ done, skipped, total }: Progress): number {
  return total === 0 ? 1 : Math.min(1, (done + skipped) / total)
}

function totalText({ total, isTotalExact }: Pick<BulkOperation, 'total' | 'isTotalExact'>): string {
  return isTotalExact ? String(total) : `${total} or more`
}

export function describeOperation(operation: BulkOperation): string {
  const { id, kind, state, done, skipped, error } = operation
  const left = skipped === 0 ? '' : `, ${skipped} had changed and were skipped`
  return `${id} ${kind} ${state}: ${done} of ${totalText(operation)} done${left}${error === null ? '' : `: ${printable(error)}`}`
}
