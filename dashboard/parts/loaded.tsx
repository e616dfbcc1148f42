import { type ReactNode, useEffect, useState } from 'react'
import type { ApiProblem } from '../api/api-problem.ts'
import { isMissingCode, MissingNote } from './missing-note.tsx'
import { ProblemNote } from './problem-note.tsx'

interface Loading<Data> {
  readonly data: Data | undefined
  readonly error: ApiProblem | null
  readonly dataUpdatedAt: number
  readonly refetch: () => unknown
}

const patienceMs = 300

/** Nothing for 300 ms, then bones of the final height; an error above the last good data, which is dimmed. */
export function Loaded<Data>({
  of: { data, error, dataUpdatedAt, refetch },
  bones = 5,
  children,
}: {
  readonly of: Loading<Data>
  readonly bones?: number
  readonly children: (data: Data) => ReactNode
}) {
  return (
    <>
      {error !== null &&
        (isMissingCode(error.code) ? (
          <MissingNote code={error.code} />
        ) : (
          <ProblemNote problem={error} updatedAtMs={dataUpdatedAt} onRetry={() => void refetch()} />
        ))}
      {data === undefined && error === null && <Bones rows={bones} />}
      {data !== undefined &&
        (error === null || error.isOutage ? (
          children(data)
        ) : (
          <div className="stack opacity-70">{children(data)}</div>
        ))}
    </>
  )
}

export function Bones({ rows }: { readonly rows: number }) {
  const isShown = useAfter(patienceMs)
  if (!isShown) return null
  return (
    <div className="card" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        // oxlint-disable-next-line react/no-array-index-key -- they are all alike
        <div key={row} className="h-[34px] px-4 py-3 border-b border-line last:border-0">
          <span className={`bone ${['w-1/3', 'w-1/2', 'w-1/4'][row % 3] ?? ''}`} />
        </div>
      ))}
    </div>
  )
}

export function useAfter(ms: number): boolean {
  const [isOver, setIsOver] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsOver(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return isOver
}
