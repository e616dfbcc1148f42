import { hash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '../../postgres/embedded/make-folder.ts'

interface Stored {
  readonly path: string
  readonly target: string
  /** A digest of the file's first line: after a rotation another log has the same path, and must be read from its beginning. */
  readonly first: string
  /** All lines up to this one are published. */
  readonly line: number
}

/**
 * How far a file has been imported. After a crash, events since the last checkpoint are published again with the same idempotency keys, so they are
 * stored once.
 */
export class Checkpoint {
  readonly #file: string
  readonly #path: string
  readonly #target: string
  #isForgotten = false
  #first = ''

  private constructor(file: string, path: string, target: string) {
    this.#file = file
    this.#path = path
    this.#target = target
  }

  /** One checkpoint for each file and target; `selection` distinguishes imports of different parts of a file. */
  static in(folder: string, path: string, target: string, selection: string): Checkpoint {
    const whole = resolve(path)
    const name = hash('sha256', JSON.stringify([whole, target, selection]), 'hex').slice(0, 24)
    return new Checkpoint(join(folder, `${name}.json`), whole, target)
  }

  /** Ignores the stored position. */
  fromTheBeginning(): Checkpoint {
    this.#isForgotten = true
    return this
  }

  /** How many lines are done of the file that begins with this line. */
  async read(firstLine: string): Promise<number> {
    this.#first = hash('sha256', firstLine, 'hex')
    if (this.#isForgotten) return 0
    const text = await readFile(this.#file, 'utf8').catch(() => null)
    if (text === null) return 0
    try {
      const { first, line } = JSON.parse(text) as Partial<Stored>
      return first === this.#first && typeof line === 'number' && line > 0 ? line : 0
    } catch {
      return 0
    }
  }

  /** Atomic, also across a power failure. */
  async write(line: number): Promise<void> {
    const stored: Stored = { path: this.#path, target: this.#target, first: this.#first, line }
    await makeFolder(dirname(this.#file), 0o777)
    const draft = `${this.#file}.${process.pid}`
    const handle = await open(draft, 'w')
    try {
      await handle.writeFile(`${JSON.stringify(stored)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, this.#file)
  }
}
