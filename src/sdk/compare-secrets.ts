import { timingSafeEqual } from 'node:crypto'
import {
  digestPrefix,
  placeOf,
  type SecretPath,
  type StoredSecret,
  valueAt,
} from '../secrets/endpoint-secrets.ts'
import type { Keyring } from '../secrets/keyring.ts'

/** Public facts about a secret, and a digest that changes with it. */
export interface SecretDigest {
  /** Its path in the config: `headers.x-team`. */
  readonly field: string
  /** Null: the value was stored before it counted as a secret, and is not encrypted yet. */
  readonly keyId: string | null
  readonly setAt: Date | null
  /** Null if this process lacks the key. */
  readonly digest: string | null
}

/** `unknown`: this process lacks the key to compare. */
export type SecretComparison = 'same' | 'different' | 'not_set' | 'unknown'

interface StoredValues {
  readonly id: number
  readonly config: unknown
  readonly secrets: readonly StoredSecret[]
}

interface PresentSecret {
  readonly keyId: string | null
  readonly setAtMs: number | null
  /** Null: this process can't decrypt it. */
  readonly text: string | null
}

export function digestsOf(
  lane: StoredValues,
  paths: readonly SecretPath[],
  keyring: Keyring | null,
): SecretDigest[] {
  return [...presentSecrets(lane, paths, keyring)].map(([field, { keyId, setAtMs, text }]) => ({
    field,
    keyId,
    setAt: setAtMs === null ? null : new Date(setAtMs),
    digest:
      text === null ? null : (keyring?.digest(text, placeOf(lane.id, field), keyId ?? undefined) ?? null),
  }))
}

/** Compares by digest, so that an exported file can be compared too. */
export function compareSecrets(
  lane: StoredValues,
  paths: readonly SecretPath[],
  keyring: Keyring | null,
  values: Readonly<Record<string, string>>,
): Record<string, SecretComparison> {
  const present = presentSecrets(lane, paths, keyring)
  const compare = (field: string, value: string): SecretComparison => {
    const stored = present.get(field)
    if (stored === undefined) return 'not_set'
    if (stored.text === null || keyring === null) return 'unknown'
    const place = placeOf(lane.id, field)
    const isDigest = value.startsWith(digestPrefix)
    const given = isDigest ? value.slice(digestPrefix.length) : keyring.digest(value, place)
    const [keyId = ''] = given?.split('.') ?? []
    const own = keyring.digest(stored.text, place, keyId)
    if (given === null || own === null) return 'unknown'
    return isEqual(given, own) ? 'same' : 'different'
  }
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, compare(field, value)]))
}

function presentSecrets(
  { id, config, secrets }: StoredValues,
  paths: readonly SecretPath[],
  keyring: Keyring | null,
): Map<string, PresentSecret> {
  const present = new Map<string, PresentSecret>()
  for (const path of paths) {
    const field = path.join('.')
    const value = valueAt(config as Record<string, unknown>, path)
    if (typeof value === 'string') present.set(field, { keyId: null, setAtMs: null, text: value })
    const [newest] = secrets
      .filter((secret) => secret.field === field)
      .sort((one, other) => other.version - one.version)
    if (newest === undefined || typeof value !== 'object') continue
    const { keyId, sealed, setAtMs } = newest
    const opened = keyring?.open({ keyId, bytes: Buffer.from(sealed, 'base64') }, placeOf(id, field))
    present.set(field, { keyId, setAtMs, text: opened?.ok === true ? opened.text : null })
  }
  return present
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
