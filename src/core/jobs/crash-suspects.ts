/** One crash may be a coincidence. After the second, the suspect is executed alone, so that a third crash identifies the cause. */
export const crashesUntilAlone = 2

/** A delivery that was in flight at this many node crashes becomes a dead letter, so that it can't crash another node. */
export const crashesUntilDead = 3

export type SuspectTreatment = 'normal' | 'alone' | 'dead'

/** How careful mode treats a delivery that was in flight at this many crashes. */
export function suspectTreatment(crashes: number): SuspectTreatment {
  if (crashes >= crashesUntilDead) return 'dead'
  if (crashes >= crashesUntilAlone) return 'alone'
  return 'normal'
}
