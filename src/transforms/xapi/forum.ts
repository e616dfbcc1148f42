import type { TrackingEvent } from '../learning/tracking-event.ts'
import { type Activity, type Extensions, present } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

type Collection = 'threads' | 'comments'

function contribution({ platform }: Surroundings, collection: Collection, id: string): Activity {
  return activity(platform.iri('api/discussion/v1', collection, id), { type: activities.discussion })
}

export function thread({ data }: TrackingEvent, surroundings: Surroundings): Activity {
  const found = contribution(surroundings, 'threads', data.requiredId('id'))
  const title = data.text('title')
  return title === undefined ? found : { ...found, definition: { ...found.definition, name: { en: title } } }
}

/** A response to a thread, or a comment on a response: the platform keeps both in one collection. */
export function reply({ data }: TrackingEvent, surroundings: Surroundings): Activity {
  return contribution(surroundings, 'comments', data.requiredId('id'))
}

/** The thread, and the response, that a reply was written to. */
export function repliedTo({ data }: TrackingEvent, surroundings: Surroundings): readonly Activity[] {
  const threadId = data.section('discussion').id('id')
  const responseId = data.section('response').id('id')
  return [
    ...(threadId === undefined ? [] : [contribution(surroundings, 'threads', threadId)]),
    ...(responseId === undefined ? [] : [contribution(surroundings, 'comments', responseId)]),
  ]
}

export function kindOfThread({ data }: TrackingEvent): Extensions {
  return present({ [extensions.type]: data.text('thread_type') })
}

/** `up`. */
export function vote({ data }: TrackingEvent): Extensions {
  return present({ [extensions.type]: data.text('vote_value') })
}
