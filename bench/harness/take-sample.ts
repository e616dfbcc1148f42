import { fileURLToPath } from 'node:url'
import { askProcess } from './ask-process.ts'
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

/** Takes one sample in a new process. */
export function takeSample(
  request: SampleRequest,
  timeoutMs: number,
  signal: AbortSignal,
  nodePath?: string,
): Promise<SampleReply> {
  return askProcess<SampleReply>(processPath, request, {
    timeoutMs,
    signal,
    nodePath,
    onFailure: (reason) => ({ kind: 'failed', reason }),
  })
}
