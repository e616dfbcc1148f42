import type { TrackingEvent } from '../learning/tracking-event.ts'
import { type Activity, type Extensions, present } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

export function clickedLink({ data }: TrackingEvent, { platform }: Surroundings): Activity {
  const target = platform.link(data.requiredText('target_url'), data.text('current_url'))
  return activity(target, { type: activities.link })
}

export function outlineEntry({ data }: TrackingEvent, { platform }: Surroundings): Activity {
  const target = platform.link(data.requiredText('target_url'), data.text('current_url'))
  const name = data.text('target_name')
  return activity(target, { type: activities.module, ...(name !== undefined && { name: { en: name } }) })
}

export function sequence({ data }: TrackingEvent, { platform }: Surroundings): Activity {
  return activity(platform.block(data.requiredText('id')), {
    type: activities.resource,
    extensions: present({ [extensions.totalItems]: data.number('tab_count') }),
  })
}

export function fromTabToTab({ data }: TrackingEvent): Extensions {
  return steps(data.number('current_tab'), data.number('target_tab'))
}

export function toNextUnit({ data }: TrackingEvent): Extensions {
  return steps(data.number('current_tab'), 'next unit')
}

export function toPreviousUnit({ data }: TrackingEvent): Extensions {
  return steps(data.number('current_tab'), 'previous unit')
}

function steps(from: number | undefined, to: number | string | undefined): Extensions {
  return present({ [extensions.startingPosition]: from, [extensions.endingPoint]: to })
}
