import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Reads one line from the terminal without showing it. */
export async function askSecret(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      prompt.once('line', (line) => resolve(line.trim()))
      prompt.once('close', () => resolve(''))
      prompt.once('error', reject)
    })
  } finally {
    prompt.close()
    process.stderr.write('\n')
  }
}
