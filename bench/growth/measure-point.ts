import { fileURLToPath } from 'node:url'
import { askProcess } from '../harness/ask-process.ts'
import type { Measured, PointContext } from './curve.ts'

export interface PointRequest {
  readonly curve: string
  readonly context: PointContext
}

export type PointReply = { kind: 'measured'; measured: Measured } | { kind: 'failed'; reason: string }

const processPath = fileURLToPath(new URL('./point-process.ts', import.meta.url))

/** Measures one point in a new process. */
export function measurePoint(
  request: PointRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PointReply> {
  return askProcess<PointReply>(processPath, request, {
    timeoutMs,
    signal,
    onFailure: (reason) => ({ kind: 'failed', reason }),
  })
}
