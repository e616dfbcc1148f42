import { compactDuration } from '../learning/duration.ts'
import { type Platform, usageKey } from '../learning/platform.ts'
import { problemOfForm } from '../learning/problem-input.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import { type Entity, present } from './caliper-event.ts'
import type { Surroundings } from './caliper-kind.ts'

type MakeEntity = (event: TrackingEvent, surroundings: Surroundings) => Entity

/** The length is zero if the event has none, and unknown if it is null. */
export function video(event: TrackingEvent, { platform }: Surroundings): Entity {
  const key = usageKey(event.requiredCourseId, 'video', event.data.requiredId('id'))
  return {
    id: platform.block(key),
    type: 'VideoObject',
    ...(!event.data.isNull('duration') && { duration: compactDuration(event.data.number('duration') ?? 0) }),
  }
}

/** The position in the video, as far as the event has it. */
export function playhead({ data }: TrackingEvent): Entity {
  return mediaLocation(data.number('currentTime') ?? data.number('current_time'))
}

export function jump({ data }: TrackingEvent): Entity {
  const to = data.number('new_time')
  return {
    ...mediaLocation(data.number('currentTime') ?? data.number('old_time')),
    ...(to !== undefined && { extensions: { newTime: compactDuration(to) } }),
  }
}

function mediaLocation(seconds: number | undefined): Entity {
  return {
    id: '_:MediaLocation',
    type: 'MediaLocation',
    ...(seconds !== undefined && { currentTime: compactDuration(seconds) }),
  }
}

export function changeOfSpeed({ data }: TrackingEvent): Readonly<Record<string, unknown>> {
  return present({ oldSpeed: data.id('old_speed'), newSpeed: data.id('new_speed') })
}

export function enrolledCourse(event: TrackingEvent, surroundings: Surroundings): Entity {
  const mode = event.data.text('mode')
  return { ...course(event, surroundings), ...(mode !== undefined && { extensions: { mode } }) }
}

export function course(event: TrackingEvent, { platform, courseName }: Surroundings): Entity {
  return { id: platform.course(event.requiredCourseId), type: 'CourseOffering', name: courseName }
}

export function clickedLink({ data }: TrackingEvent, { platform }: Surroundings): Entity {
  return page(data.requiredText('target_url'), 'Webpage', data, platform)
}

export function outlineEntry({ data }: TrackingEvent, { platform }: Surroundings): Entity {
  return page(data.requiredText('target_url'), 'DigitalResource', data, platform)
}

function page(target: string, type: string, data: TrackingEvent['data'], platform: Platform): Entity {
  const name = data.text('target_name')
  return { id: platform.link(target, data.text('current_url')), type, ...(name !== undefined && { name }) }
}

export function sequence(target: 'next unit' | 'previous unit' | null): MakeEntity {
  return ({ data }, { platform }) => ({
    id: platform.block(data.requiredText('id')),
    type: 'DigitalResourceCollection',
    name: 'Unit',
    extensions: present({
      current_tab: data.number('current_tab'),
      tab_count: data.number('tab_count'),
      target: target ?? data.number('target_tab'),
    }),
  })
}

/** A problem by its full usage key, as an entity of this type. */
export function problem(type: string): MakeEntity {
  return (event, { platform }) => ({ id: platform.block(keyOf(event)), type })
}

export function hint(event: TrackingEvent, { platform }: Surroundings): Entity {
  const index = event.data.requiredId('hint_index')
  return { id: platform.block(keyOf(event), 'hint', index), type: 'Annotation', name: 'Hint' }
}

export function solution(event: TrackingEvent, { platform }: Surroundings): Entity {
  return { id: platform.block(keyOf(event), 'solution'), type: 'Annotation', name: 'Solution' }
}

export function submittedProblem(event: TrackingEvent, { platform }: Surroundings): Entity {
  return { id: platform.block(problemOfForm(event)), type: 'Assessment' }
}

/** The learner's attempt at a problem, counted by the platform. */
export function attempt(event: TrackingEvent, { platform, actor, learner }: Surroundings): Entity {
  const key = keyOf(event)
  const count = event.data.requiredNumber('attempts')
  return {
    id: platform.block(key, 'user', learner, 'attempt', String(count)),
    type: 'Attempt',
    extensions: { assignable: { id: platform.block(key), type: 'Assessment' }, assignee: actor, count },
  }
}

export function grade({ data }: TrackingEvent): Readonly<Record<string, unknown>> {
  const outcome = data.text('success')
  return {
    score: {
      id: '_:score',
      type: 'Score',
      ...present({
        attempts: data.number('attempts'),
        maxScore: data.number('max_grade'),
        scoreGiven: data.number('grade'),
      }),
      // A capitalised text, as consumers expect it.
      ...(outcome !== undefined && { extensions: { success: outcome === 'correct' ? 'True' : 'False' } }),
    },
  }
}

function keyOf({ data }: TrackingEvent): string {
  return data.text('problem_id') ?? data.text('module_id') ?? data.requiredText('problem_id')
}
