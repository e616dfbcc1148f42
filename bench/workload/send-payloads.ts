import type { Holdfast } from '../../dist/index.js'
import { makePayload } from './payload.ts'

/** The best settings found for Holdfast: see contenders/holdfast.ts. */
const BATCH_ROWS = 1000
const CONNECTIONS = 2

/** Sends payloads numbered from `first`, created batch by batch: a million at once would dominate the memory. */
export async function sendPayloads(
  holdfast: Holdfast,
  endpoint: string,
  count: number,
  first = 0,
): Promise<void> {
  const end = first + count
  let next = first
  const loop = async () => {
    while (next < end) {
      const from = next
      const rows = Math.min(BATCH_ROWS, end - from)
      next += rows
      await holdfast.sendBatch(
        endpoint,
        Array.from({ length: rows }, (_, index) => ({ payload: makePayload(from + index) })),
      )
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, loop))
}
