import { useEffect, useRef, useState } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import { call, type Input } from '../../api/call.ts'
import type { ItemOf } from '../../api/use-api.ts'

export type EventRow = ItemOf<'storedEvents.search'>

export interface PayloadSearch {
  readonly rows: readonly EventRow[]
  readonly scanned: number
  /** About how many there are; null: nobody knows. */
  readonly total: number | null
  /** Everything newer has been looked at. Null: nothing yet, or everything. */
  readonly scannedTo: string | null
  readonly isRunning: boolean
  readonly isOver: boolean
  readonly error: ApiProblem | null
  readonly goOn: () => void
}

/** Without a word of the user it looks no longer than this, a step of at most about 100 ms at a time. */
const patienceMs = 2000
const pageRows = 50

const nothingYet = {
  rows: [] as readonly EventRow[],
  scanned: 0,
  total: null as number | null,
  scannedTo: null as string | null,
  cursor: null as string | null,
  isOver: false,
}

/** Looks into payloads step by step; `goOn` looks further back. Another query begins anew. */
export function usePayloadSearch(query: Input<'storedEvents.search'>['query'] | null): PayloadSearch {
  const text = JSON.stringify(query)
  const [progress, setProgress] = useState(nothingYet)
  const [isRunning, setIsRunning] = useState(false)
  const [error, setError] = useState<ApiProblem | null>(null)
  const abort = useRef<AbortController | null>(null)
  const run = async (from: typeof nothingYet): Promise<void> => {
    abort.current?.abort()
    const { signal } = (abort.current = new AbortController())
    setIsRunning(true)
    setError(null)
    let now = from
    const stopAtMs = performance.now() + patienceMs
    const enough = from.rows.length + pageRows
    try {
      do {
        const asked = { ...(JSON.parse(text) as object), limit: enough - now.rows.length }
        const step = await call(
          'storedEvents.search',
          { query: { ...asked, ...(now.cursor !== null && { cursor: now.cursor }) } },
          signal,
        )
        now = {
          rows: [...now.rows, ...step.data],
          scanned: now.scanned + step.scanned,
          total: step.total,
          scannedTo: step.scannedTo,
          cursor: step.nextCursor,
          isOver: step.nextCursor === null,
        }
        setProgress(now)
      } while (!now.isOver && now.rows.length < enough && performance.now() < stopAtMs)
    } catch (problem) {
      if (signal.aborted) return
      setError(problem as ApiProblem)
    }
    setIsRunning(false)
  }
  // oxlint-disable-next-line react/exhaustive-deps -- the text stands for the query
  useEffect(() => {
    setProgress(nothingYet)
    if (query !== null) void run(nothingYet)
    return () => abort.current?.abort()
  }, [text])
  return { ...progress, isRunning, error, goOn: () => void run(progress) }
}
