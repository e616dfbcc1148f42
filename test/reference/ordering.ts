/** A delivery that waits in a lane. */
export interface OrderingCandidate {
  /** Its ordering key; null: in no order with anything. */
  readonly key: string | null
  /** False for a delayed one or one waiting for its retry: it can't start, and holds back the younger ones of its key. */
  readonly isDue?: boolean
}

/**
 * Who may start, of candidates given from oldest to youngest: without a key everybody who is due; with one only the oldest
 * of the key, and only when none of that key is out. Inside a key age beats priority and delay.
 */
export function startable<Candidate extends OrderingCandidate>(
  candidates: readonly Candidate[],
  busyKeys: ReadonlySet<string>,
): Candidate[] {
  const passedKeys = new Set<string>()
  return candidates.filter(({ key, isDue = true }) => {
    if (key === null) return isDue
    if (busyKeys.has(key) || passedKeys.has(key)) return false
    passedKeys.add(key)
    return isDue
  })
}
