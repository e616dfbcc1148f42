/**
 * The most processor time that this process takes in one turn of its event loop while `work` runs. Not the time that passes: on a machine
 * where others work too, that says little about the code.
 */
export async function busiestTurnMs(work: () => Promise<void>): Promise<number> {
  let busiest = 0
  let isOver = false
  let before = process.cpuUsage()
  const watch = (): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    busiest = Math.max(busiest, (user + system) / 1000)
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  // A block that begins with the last of the work is seen too.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  isOver = true
  return busiest
}
