import type { TrackingEvent } from '../learning/tracking-event.ts'
import { type Activity, type Extensions, present } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

type Collection = 'threads' | 'comments'

const discussions = 'api/discussion/v1'

export function thread(event: TrackingEvent, surroundings: Surroundings): Activity {
  const found = contribution(event, surroundings, 'threads')
  const title = event.data.text('title')
  return title === undefined ? found : { ...found, definition: { ...found.definition, name: { en: title } } }
}

/** A response to a thread, or a comment on a response: the platform stores both in one collection. */
export function reply(event: TrackingEvent, surroundings: Surroundings): Activity {
  return contribution(event, surroundings, 'comments')
}

/** The thread to which a contribution belongs. */
export function discussion({ data }: TrackingEvent, { platform }: Surroundings): readonly Activity[] {
  const id = data.section('discussion').id('id')
  if (id === undefined) return []
  return [activity(platform.iri(discussions, 'threads', id), { type: activities.discussion })]
}

/**
 * The collection comes from the path of the request, if it is one of the discussion API: a thread is viewed
 * through its comments. Other paths may contain names of people.
 */
function contribution(event: TrackingEvent, { platform }: Surroundings, usual: Collection): Activity {
  const path = event.context.text('path') ?? event.root.text('path') ?? ''
  const collection = /^\/api\/discussion\/v1\/(threads|comments)(?:\/|$)/.exec(path)?.[1] ?? usual
  const id = event.data.requiredId('id')
  return activity(platform.iri(discussions, collection, id), { type: activities.discussion })
}

export function kindOfThread({ data }: TrackingEvent): Extensions {
  return present({ [extensions.type]: data.text('thread_type') })
}

/** The value of the vote, for example `up`. */
export function vote({ data }: TrackingEvent): Extensions {
  return present({ [extensions.type]: data.text('vote_value') })
}
