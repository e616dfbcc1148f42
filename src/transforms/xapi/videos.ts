import { paddedDuration } from '../learning/duration.ts'
import { usageKey } from '../learning/platform.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import { type Activity, type Extensions, present, type Result } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

export function video(event: TrackingEvent, { platform }: Surroundings): Activity {
  const key = usageKey(event.requiredCourseId, 'video', event.data.requiredId('id'))
  return activity(platform.block(key), { type: activities.video })
}

export function videoLength(event: TrackingEvent): Extensions {
  return present({ [extensions.length]: rounded(event.data.number('duration')) })
}

/** The position in the video. */
export function playhead(event: TrackingEvent): Result {
  return resultOf({ [extensions.time]: playheadOf(event) })
}

export function captionsShown(event: TrackingEvent): Result {
  return resultOf({ [extensions.time]: playheadOf(event), [extensions.captions]: true })
}

export function captionsHidden(event: TrackingEvent): Result {
  return resultOf({ [extensions.time]: playheadOf(event), [extensions.captions]: false })
}

export function watchedToTheEnd(event: TrackingEvent): Result {
  const duration = event.data.number('duration')
  return {
    ...resultOf({ [extensions.time]: rounded(duration) }),
    completion: true,
    ...(duration !== undefined && { duration: paddedDuration(duration) }),
  }
}

export function jump(event: TrackingEvent): Result {
  const { data } = event
  return resultOf({
    [extensions.timeFrom]: rounded(data.number('old_time')),
    [extensions.timeTo]: rounded(data.number('new_time')),
  })
}

export function changeOfSpeed(event: TrackingEvent): Result {
  const { data } = event
  return resultOf({
    [extensions.speedFrom]: times(data.id('old_speed')),
    [extensions.speedTo]: times(data.id('new_speed')),
  })
}

function playheadOf({ data }: TrackingEvent): number | undefined {
  return rounded(data.number('currentTime') ?? data.number('current_time'))
}

/** The video profile has seconds with millisecond precision. */
function rounded(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Number(seconds.toFixed(3))
}

function times(speed: string | undefined): string | undefined {
  return speed === undefined ? undefined : `${speed}x`
}

function resultOf(given: Extensions): Result {
  const kept = present(given)
  return Object.keys(kept).length === 0 ? {} : { extensions: kept }
}
