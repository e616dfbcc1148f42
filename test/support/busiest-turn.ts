import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const statistics = `/proc/${process.pid}/task/${process.pid}/schedstat`
const canAskKernel = isMainThread && existsSync(statistics)
const text = Buffer.alloc(128)

/**
 * The most processor time that the main thread takes in one turn of its event loop while `work` runs. Not the time that passes: on a machine where
 * others work too, that says little about the code. Where the kernel doesn't tell, it is the time of the whole process.
 */
export async function busiestTurnMs(work: () => Promise<unknown>): Promise<number> {
  const file = canAskKernel ? openSync(statistics, 'r') : null
  let busiestMs = 0
  let isOver = false
  let beforeMs = usedMs(file)
  const watch = (): void => {
    if (isOver) return
    const nowMs = usedMs(file)
    busiestMs = Math.max(busiestMs, nowMs - beforeMs)
    beforeMs = nowMs
    setImmediate(watch)
  }
  setImmediate(watch)
  try {
    await work()
    // A block that begins with the last of the work is seen too.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  } finally {
    isOver = true
    if (file !== null) closeSync(file)
  }
  return busiestMs
}

function usedMs(file: number | null): number {
  if (file === null) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  // Its first number: nanoseconds on a processor.
  return Number(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)).split(' ', 1)[0]) / 1e6
}
