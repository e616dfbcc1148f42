import { copyFile, open, stat, truncate } from 'node:fs/promises'

/** A larger log is moved to `<name>.1`, replacing the previous one, so that the two files together are bounded. */
const maxLogBytes = 8 * 1024 * 1024
const checkIntervalMs = 60_000
const tailBytes = 8_192

/** Copies and truncates the file instead of renaming it: the server has it open for appending. */
export async function boundLog(path: string): Promise<void> {
  const size = (await stat(path).catch(() => null))?.size ?? 0
  if (size <= maxLogBytes) return
  await copyFile(path, `${path}.1`)
  await truncate(path, 0)
}

/** Keeps the log bounded until the returned function is called. */
export function watchLog(path: string): () => void {
  const timer = setInterval(() => {
    boundLog(path).catch(() => {})
  }, checkIntervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** The last lines that were written after `fromByte`. */
export async function readLogTail(path: string, fromByte: number, maxLines: number): Promise<string> {
  const file = await open(path, 'r').catch(() => null)
  if (file === null) return ''
  try {
    const { size } = await file.stat()
    const start = Math.max(fromByte, size - tailBytes, 0)
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(tailBytes), position: start })
    const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n')
    return lines.slice(-maxLines).join('\n')
  } finally {
    await file.close()
  }
}
