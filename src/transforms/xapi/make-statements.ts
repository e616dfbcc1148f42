import type { Identity } from '../learning/learners.ts'
import type { Ingredients } from '../learning/learning-transform.ts'
import { merged } from '../learning/overrides.ts'
import { productVersion } from '../learning/product-version.ts'
import { xapiKindOf } from './kinds.ts'
import type { Activity, Agent, Context, Extensions, Statement } from './statement.ts'
import { compatibleStatementId, statementId } from './statement-id.ts'
import { activities, extensions, type Verb } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

/** The statements of one event: a single one, or one for the whole and one for each part. */
export function makeStatements(ingredients: Ingredients, isCompatible: boolean): readonly Statement[] {
  const { event, kind: name, identity, platform, courseName, overrides } = ingredients
  const kind = xapiKindOf(name, event)
  if (kind === undefined) return []
  const { courseId } = event
  const surroundings: Surroundings = { platform, courseName: courseName ?? '', isCompatible }
  const actor = agentOf(identity, platform.url)
  const verb = merged<Verb>(kind.verb, overrides?.verb)
  const object = merged<Activity>(kind.object(event, surroundings), overrides?.object)
  const timestamp = event.time.microseconds
  const own = contextExtensions(event.sessionId, kind.extensions?.(event))
  const shared = merged<Extensions>(own, overrides?.extensions)
  const makeId = isCompatible ? compatibleStatementId : statementId
  const course =
    courseId === undefined || kind.isAboutCourse === true
      ? []
      : [courseActivity(platform.course(courseId), surroundings.courseName)]
  const grouping = kind.grouping?.(event, surroundings) ?? []
  const id = makeId({ verb, actor, objectId: object.id, timestamp, partId: null })
  const result = kind.result?.(event)
  const whole: Statement = {
    id,
    version: '1.0.3',
    actor,
    verb,
    object,
    ...(result !== undefined && Object.keys(result).length > 0 && { result }),
    timestamp,
    context: contextOf(course, grouping, shared),
  }
  const parts = kind.parts?.(event, surroundings) ?? []
  if (parts.length === 0) return [whole]
  return [
    whole,
    ...parts.map(
      (part): Statement => ({
        id: makeId({ verb, actor, objectId: part.object.id, timestamp, partId: part.id }),
        version: '1.0.3',
        actor,
        verb,
        object: part.object,
        result: part.result,
        timestamp,
        context: { statement: { objectType: 'StatementRef', id }, ...contextOf([object], course, shared) },
      }),
    ),
  ]
}

function agentOf(identity: Identity, homePage: string): Agent {
  if (identity.type === 'account') return { objectType: 'Agent', account: { name: identity.name, homePage } }
  if (identity.type === 'mbox') return { objectType: 'Agent', mbox: identity.address }
  return { objectType: 'Agent', mbox_sha1sum: identity.sum }
}

function courseActivity(id: string, name: string): Activity {
  return activity(id, { type: activities.course, name: { 'en-US': name } })
}

function contextExtensions(sessionId: string | undefined, ofKind: Extensions | undefined): Extensions {
  return {
    [extensions.transformer]: productVersion,
    ...(sessionId !== undefined && { [extensions.session]: sessionId }),
    ...ofKind,
  }
}

function contextOf(parent: readonly Activity[], grouping: readonly Activity[], shared: Extensions): Context {
  const related = {
    ...(parent.length > 0 && { parent }),
    ...(grouping.length > 0 && { grouping }),
  }
  return {
    ...(Object.keys(related).length > 0 && { contextActivities: related }),
    extensions: shared,
  }
}
