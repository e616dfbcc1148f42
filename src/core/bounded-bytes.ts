const firstBytes = 4 * 1024
/** A slow peer may legitimately send a short body byte by byte. */
export const freeChunks = 512
export const minAverageChunkBytes = 8

/** The beginning of a received body, in one buffer that grows up to a limit, however many chunks arrive. */
export class BoundedBytes {
  readonly #maxBytes: number
  readonly #isKept: boolean
  #buffer: Buffer = Buffer.alloc(0)
  #keptBytes = 0
  /** Includes bytes that were not kept. */
  receivedBytes = 0
  chunkCount = 0

  constructor(maxBytes: number, isKept: boolean) {
    this.#maxBytes = maxBytes
    this.#isKept = isKept
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#keptBytes)
  }

  get isTooLarge(): boolean {
    return this.receivedBytes > this.#maxBytes
  }

  /** Whether the chunks are abusively small: each costs this process a call and an object, but its sender only a byte. */
  get isCrumbled(): boolean {
    return this.chunkCount > freeChunks && this.receivedBytes < this.chunkCount * minAverageChunkBytes
  }

  add(chunk: Buffer): void {
    this.chunkCount += 1
    this.receivedBytes += chunk.length
    if (!this.#isKept || this.#keptBytes === this.#maxBytes) return
    const endBytes = Math.min(this.#keptBytes + chunk.length, this.#maxBytes)
    if (endBytes > this.#buffer.length) this.#grow(endBytes)
    chunk.copy(this.#buffer, this.#keptBytes, 0, endBytes - this.#keptBytes)
    this.#keptBytes = endBytes
  }

  #grow(neededBytes: number): void {
    // A body that arrives in one chunk, as most do, gets a buffer of exactly its size.
    const sizeBytes =
      this.#keptBytes === 0 ? neededBytes : Math.max(neededBytes, this.#buffer.length * 2, firstBytes)
    const grown = Buffer.allocUnsafe(Math.min(sizeBytes, this.#maxBytes))
    this.#buffer.copy(grown, 0, 0, this.#keptBytes)
    this.#buffer = grown
  }
}
