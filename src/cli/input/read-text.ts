import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of a file, or of standard input for `-`. Text of another encoding is refused: its letters would silently be replaced. */
export async function readText(path: string): Promise<string> {
  const bytes = path === '-' ? await buffer(process.stdin) : await readFile(path)
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error('it is not UTF-8 text')
  }
}
