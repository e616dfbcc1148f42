import { pythonAsciiJson } from '../learning/python-text.ts'
import { type Uuid, uuid5, uuidBytes } from '../learning/uuid5.ts'
import type { Agent } from './statement.ts'
import type { Verb } from './vocabulary.ts'

export interface Identified {
  readonly verb: Verb
  readonly actor: Agent
  readonly objectId: string
  readonly timestamp: string
  /** The part's id, if the event has several statements. */
  readonly partId: string | null
}

/** The namespace of our own ids. */
const holdfast = uuidBytes('6e0c2f7a-52a1-5d8e-9a55-0f3a4b1d7c9e')
const dns = uuidBytes('6ba7b810-9dad-11d1-80b4-00c04fd430c8')

/**
 * The same event always has the same id, so that a record store recognises duplicates. Two statements
 * with the same values listed here are the same statement.
 */
export function statementId({ verb, actor, objectId, timestamp, partId }: Identified): string {
  return uuid5(holdfast, JSON.stringify([verb.id, actor, objectId, timestamp, partId])).text
}

const maxNamespaces = 1000
const namespaces = new Map<string, Uuid>()

/** The ids that older transformers create: they don't include the object, so two events of one learner with one verb in one microsecond collide. */
export function compatibleStatementId({ verb, actor, timestamp, partId }: Identified): string {
  const text = pythonAsciiJson({ id: verb.id, display: verb.display })
  if (partId !== null)
    return uuid5(uuid5(dns, `${text}-${partId}`).bytes, `${pythonAsciiJson(actor)}-${timestamp}`).text
  let namespace = namespaces.get(text)
  if (namespace === undefined) {
    if (namespaces.size >= maxNamespaces) namespaces.clear()
    namespace = uuid5(dns, text)
    namespaces.set(text, namespace)
  }
  return uuid5(namespace.bytes, `${pythonAsciiJson(actor)}-${timestamp}`).text
}
