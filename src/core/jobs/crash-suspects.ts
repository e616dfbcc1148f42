/** One crash is the node's bad luck; from the second on the suspect flies alone, so that the third names one culprit. */
export const crashesUntilAlone = 2

/** A delivery present at so many crashes of nodes becomes a dead letter instead of killing the next one. */
export const crashesUntilDead = 3

export type SuspectTreatment = 'normal' | 'alone' | 'dead'

/** How careful mode treats a delivery that was in flight at this many crashes. */
export function suspectTreatment(crashes: number): SuspectTreatment {
  if (crashes >= crashesUntilDead) return 'dead'
  if (crashes >= crashesUntilAlone) return 'alone'
  return 'normal'
}
