import { LearningError } from './learning-error.ts'
import { usageKey } from './platform.ts'
import type { TrackingEvent } from './tracking-event.ts'

const inputName = /^input_(.+)_\d+_\d+(?:_[a-z]+)?(?:\[\])?$/

/** The problem of a form that was submitted in the browser: its fields are named `input_<problem>_<question>_<input>`. */
export function problemOfForm(event: TrackingEvent): string {
  for (const name of fieldNames(event.content)) {
    const id = inputName.exec(name)?.[1]
    if (id !== undefined) return usageKey(event.requiredCourseId, 'problem', id)
  }
  const key = event.context.section('module').text('usage_key') ?? activatedBlock(event)
  if (key !== undefined) return key
  throw new LearningError(
    'learning_missing_field',
    'The event names no problem: none of its inputs is called input_<problem>_<question>_<input>.',
  )
}

function fieldNames(content: unknown): readonly string[] {
  if (typeof content === 'string') return [...new URLSearchParams(content).keys()]
  if (Array.isArray(content)) return content.flatMap(fieldNames)
  return typeof content === 'object' && content !== null ? Object.keys(content) : []
}

/** Browsers send the submitted input, servers the result of the check. */
export function isFromServer(event: TrackingEvent): boolean {
  const { source, content } = event
  if (typeof content === 'string' || Array.isArray(content)) return false
  return source !== 'browser'
}

/** The block at which the page was opened. */
function activatedBlock(event: TrackingEvent): string | undefined {
  const referer = event.context.text('referer') ?? event.root.text('referer')
  const query = referer?.split('?', 2)[1]
  return (query === undefined ? null : new URLSearchParams(query).get('activate_block_id')) ?? undefined
}

/** A question's key replaces that of its problem: `…block@a0ef` and `a0ef_2_1` become `…block@a0ef_2_1`. */
export function questionKey(problem: string, part: string): string {
  const place = problem.lastIndexOf('@')
  if (place !== -1) return problem.slice(0, place + 1) + part
  const numbers = /_\d+_\d+$/.exec(part)?.[0]
  return numbers === undefined ? `${problem}_${part}` : `${problem}${numbers}`
}
