import { chosen, type RawSearch, textsOf } from '../../parts/search-params.ts'

const views = ['letters', 'recipients'] as const
const states = ['redriven', 'resolved', 'discarded', 'all'] as const

export interface LetterSearch {
  /** Left out: groups. */
  readonly view?: (typeof views)[number] | undefined
  /** Left out: open ones. */
  readonly state?: (typeof states)[number] | undefined
  readonly endpoint?: string | undefined
  readonly job?: string | undefined
  readonly eventType?: string | undefined
  readonly error?: string | undefined
  /** The group that is looked at. */
  readonly fingerprint?: string | undefined
}

export function parseLetterSearch(raw: RawSearch): LetterSearch {
  return {
    ...textsOf(raw, 'endpoint', 'job', 'eventType', 'error', 'fingerprint'),
    ...chosen({
      view: views.find((view) => view === raw['view']),
      state: states.find((state) => state === raw['state']),
    }),
  }
}

/** As the API takes it. */
export function letterFilter({ state, view: _view, ...rest }: LetterSearch) {
  return { ...rest, ...(state !== 'all' && { state: state ?? ('open' as const) }) }
}
