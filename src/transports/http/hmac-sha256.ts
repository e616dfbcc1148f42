import { createHmac, hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
/** Longer texts are hashed by OpenSSL's own HMAC, whose fixed cost doesn't matter for them. */
const maxShortBytes = 16 * 1024
const maxBytesPerCharacter = 3
/** Shared by all keys: a signature is computed synchronously, and thousands of endpoints have a key each. */
const scratch = Buffer.alloc(blockBytes + maxShortBytes)

/**
 * HMAC-SHA256 under one key, in base64. Node's `Hmac` object has a native part that is created and collected for every signature. This is RFC 2104
 * with two calls of `hash`, which creates none (1.2 instead of 1.7 µs, and no work for the garbage collector; measured on Node.js 20).
 */
export class HmacSha256 {
  readonly #key: Buffer
  readonly #inner = Buffer.alloc(blockBytes)
  /** The key's outer block, followed by the inner digest. */
  readonly #outer = Buffer.alloc(blockBytes + digestBytes)

  constructor(key: Buffer) {
    this.#key = key
    const block = Buffer.alloc(blockBytes)
    if (key.length > blockBytes) block.write(hash('sha256', key, 'hex'), 'hex')
    else key.copy(block)
    for (const [index, byte] of block.entries()) {
      this.#inner[index] = byte ^ 0x36
      this.#outer[index] = byte ^ 0x5c
    }
  }

  sign(text: string): string {
    if (text.length * maxBytesPerCharacter > maxShortBytes) {
      return createHmac('sha256', this.#key).update(text).digest('base64')
    }
    this.#inner.copy(scratch)
    const end = blockBytes + scratch.write(text, blockBytes)
    this.#outer.write(hash('sha256', scratch.subarray(0, end), 'hex'), blockBytes, 'hex')
    return hash('sha256', this.#outer, 'base64')
  }
}
