import { hash } from 'node:crypto'

/** A name-based UUID (RFC 9562, version 5): the same name in the same namespace always has the same UUID. */
export function uuid5(namespace: Uint8Array, name: string): Uuid {
  const digest = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'buffer')
  const bytes = digest.subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return { bytes, text: formatUuid(bytes) }
}

export interface Uuid {
  readonly bytes: Uint8Array
  readonly text: string
}

export function uuidBytes(text: string): Uint8Array {
  return Buffer.from(text.replaceAll('-', ''), 'hex')
}

function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
