import type { Check } from '../evidence.ts'
import { endOf, type LedgerEntry } from '../ledger.ts'

/** While a probe is out nothing else is: neither what started after it, nor what had started before and still wasn't answered. */
export const probesStandAlone: Check = ({ probes, ledger }) => {
  const violations: string[] = []
  let checked = 0
  for (const { id, endpoint, attempt } of probes) {
    // An attempt that was made twice leaves open which of the two was the probe: one that stood alone is enough.
    const candidates = ledger.of(endpoint, id).filter((entry) => entry.attempt === attempt)
    if (candidates.length === 0) continue
    checked += 1
    const beside = candidates.map((probe) => besideOf(probe, ledger.at(endpoint)))
    const [other] = beside
    if (other !== undefined && beside.every((each) => each !== undefined)) {
      const when = other.atMs < (candidates[0]?.atMs ?? 0) ? 'was still out when' : 'was sent while'
      violations.push(`${endpoint}: ${other.webhookId} ${when} ${id} was out as a probe`)
    }
  }
  return { row: '4 probes stand alone', checked, violations }
}

function besideOf(probe: LedgerEntry, entries: readonly LedgerEntry[]): LedgerEntry | undefined {
  return entries.find((other) => other !== probe && other.atMs < endOf(probe) && endOf(other) > probe.atMs)
}
