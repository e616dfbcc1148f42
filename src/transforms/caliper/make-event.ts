import type { Identity } from '../learning/learners.ts'
import type { Ingredients } from '../learning/learning-transform.ts'
import { merged } from '../learning/overrides.ts'
import type { Platform } from '../learning/platform.ts'
import { productVersion } from '../learning/product-version.ts'
import { uuid5, uuidBytes } from '../learning/uuid5.ts'
import { type CaliperEvent, caliperContext, type Entity } from './caliper-event.ts'
import { caliperKindOf } from './kinds.ts'

/** The namespace of our ids. */
const holdfast = uuidBytes('b1f6b0d4-7f0e-5c39-8f5d-3f4f3a2e9c11')

export function makeEvents(ingredients: Ingredients): readonly CaliperEvent[] {
  const { event, kind: name, identity, platform, courseName, overrides } = ingredients
  const kind = caliperKindOf(name, event)
  if (kind === undefined) return []
  const learner = learnerOf(identity)
  const actor: Entity = { id: actorId(identity, learner, platform), type: 'Person' }
  const own = kind.object(event, { platform, courseName: courseName ?? '', actor, learner })
  const object = merged<Entity>(partOfCourse(own, event.courseId, platform), overrides?.object)
  const action = typeof overrides?.verb === 'string' ? overrides.verb : kind.action
  const { microseconds, milliseconds } = event.time
  const { sessionId } = event
  const id = uuid5(holdfast, JSON.stringify([kind.type, action, actor.id, object.id, microseconds])).text
  return [
    {
      '@context': caliperContext,
      id: `urn:uuid:${id}`,
      type: kind.type,
      action,
      actor,
      object,
      ...(kind.target !== undefined && { target: kind.target(event) }),
      ...(kind.generated !== undefined && { generated: kind.generated(event) }),
      eventTime: milliseconds,
      ...(sessionId !== undefined && {
        session: { id: platform.iri('sessions', sessionId), type: 'Session' },
      }),
      extensions: merged(
        { ...kind.extensions?.(event), transformerVersion: productVersion },
        overrides?.extensions,
      ),
    },
  ]
}

function partOfCourse(object: Entity, courseId: string | undefined, platform: Platform): Entity {
  if (courseId === undefined || object.type === 'CourseOffering') return object
  const isPartOf = { id: platform.course(courseId), type: 'CourseOffering' }
  return { ...object, extensions: { ...object.extensions, isPartOf } }
}

function learnerOf(identity: Identity): string {
  if (identity.type === 'account') return identity.name
  return identity.type === 'mbox' ? identity.address : identity.sum
}

/** An e-mail address is an IRI of its own; any other identity is a user of the platform. */
function actorId(identity: Identity, learner: string, platform: Platform): string {
  return identity.type === 'mbox' ? identity.address : platform.user(learner)
}
