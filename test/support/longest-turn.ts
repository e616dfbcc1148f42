/** The longest time between two turns of the event loop while `work` runs. */
export async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let longestMs = 0
  let isOver = false
  let beforeMs = performance.now()
  const watch = (): void => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - beforeMs)
    beforeMs = nowMs
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  isOver = true
  return longestMs
}
