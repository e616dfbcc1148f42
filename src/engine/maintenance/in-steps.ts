/** Steps of one transaction each, until one finds less than it could have taken. */
export async function inSteps(
  maxRows: number,
  signal: AbortSignal,
  step: () => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    const some = await step()
    total += some
    if (some < maxRows || signal.aborted) return total
  }
}
