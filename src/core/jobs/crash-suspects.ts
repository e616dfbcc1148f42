/** One crash may be a coincidence; from the second on, the suspect is executed alone, so that the third crash identifies one cause. */
export const crashesUntilAlone = 2

/** A delivery that was in flight at this many crashes of nodes becomes a dead letter instead of crashing the next one. */
export const crashesUntilDead = 3

export type SuspectTreatment = 'normal' | 'alone' | 'dead'

/** How careful mode treats a delivery that was in flight at this many crashes. */
export function suspectTreatment(crashes: number): SuspectTreatment {
  if (crashes >= crashesUntilDead) return 'dead'
  if (crashes >= crashesUntilAlone) return 'alone'
  return 'normal'
}
