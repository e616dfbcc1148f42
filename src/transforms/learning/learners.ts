import { createHmac, hash } from 'node:crypto'
import type { LearningConfig } from './learning-config.ts'
import { LearningError } from './learning-error.ts'
import { anyKey, mappedNames, type Names, type ReadTable, tableNames } from './names.ts'
import type { Learner } from './tracking-event.ts'

/** The learner as sent to record stores; nothing else about a learner is sent. */
export type Identity =
  | { readonly type: 'account'; readonly name: string }
  | { readonly type: 'mbox'; readonly address: string }
  | { readonly type: 'mbox_sha1sum'; readonly sum: string }

export interface Learners {
  /** Keys that must be loaded from a table first. */
  unknown(learner: Learner): readonly string[]
  load(keys: readonly string[]): Promise<void>
  identify(learner: Learner): Identity
}

const maxCachedPseudonyms = 20_000

export function createLearners(
  actor: LearningConfig['actor'],
  readTable: ReadTable,
  nowMs: () => number,
): Learners {
  if (actor.from === 'hash') return hashedLearners(actor.key ?? '', actor.identifier)
  const names =
    actor.from === 'map' ? mappedNames(actor.map ?? {}) : tableNames(actor.table ?? '', readTable, nowMs)
  return namedLearners(names, actor)
}

/**
 * A pseudonym that only the owner of the key can compute: HMAC-SHA-256, the first 128 bits as a UUID. The key is a separate secret, so that a new
 * encryption key changes no pseudonym.
 */
function hashedLearners(key: string, identifier: 'username' | 'user_id'): Learners {
  const pseudonyms = new Map<string, string>()

  function pseudonymOf(name: string): string {
    const known = pseudonyms.get(name)
    if (known !== undefined) return known
    const hex = createHmac('sha256', key).update(name).digest('hex')
    // Version 8: a UUID with custom content.
    const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16)
    const pseudonym = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    if (pseudonyms.size >= maxCachedPseudonyms) pseudonyms.clear()
    pseudonyms.set(name, pseudonym)
    return pseudonym
  }

  return {
    unknown: () => [],
    load: async () => {},
    identify: (learner) => {
      const [first] = keysOf(learner, identifier)
      return { type: 'account', name: pseudonymOf(first ?? '') }
    },
  }
}

function namedLearners(names: Names, actor: LearningConfig['actor']): Learners {
  return {
    unknown: (learner) => names.unknown([...keysOf(learner, actor.identifier), anyKey]),
    load: (keys) => names.load(keys),
    identify: (learner) => {
      for (const key of [...keysOf(learner, actor.identifier), anyKey]) {
        const value = names.get(key)
        if (value !== null && value !== '') return identityOf(actor, value)
      }
      throw new LearningError(
        'learning_unknown_learner',
        `The learner of the event is not in the ${actor.from}. Add an entry by user name or user id, or "*" for all others.`,
      )
    },
  }
}

/** The preferred identifier first; an event without it is identified by the other one. */
function keysOf({ username, userId }: Learner, preferred: 'username' | 'user_id'): string[] {
  const keys = preferred === 'username' ? [username, userId] : [userId, username]
  return keys.filter((key) => key !== null)
}

const mailAddress = /^mailto:[^\s@]+@[^\s@]+$/

function identityOf({ type, from }: LearningConfig['actor'], value: string): Identity {
  if (type === 'account') return { type, name: value }
  if (type === 'mbox_sha1sum' && /^[0-9a-f]{40}$/i.test(value)) return { type, sum: value.toLowerCase() }
  const address = value.startsWith('mailto:') ? value : `mailto:${value}`
  if (!mailAddress.test(address)) {
    throw new LearningError(
      'learning_wrong_type',
      `The ${from} has no mail address for the learner of the event, as the actor type ${type} needs.`,
    )
  }
  return type === 'mbox' ? { type, address } : { type, sum: hash('sha1', address, 'hex') }
}
