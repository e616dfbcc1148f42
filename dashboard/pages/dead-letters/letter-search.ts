import { searchText as text } from '../../parts/search-text.ts'

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

export function parseLetterSearch(raw: Record<string, unknown>): LetterSearch {
  const search = {
    view: views.find((view) => view === raw['view']),
    state: states.find((state) => state === raw['state']),
    endpoint: text(raw['endpoint']),
    job: text(raw['job']),
    eventType: text(raw['eventType']),
    error: text(raw['error']),
    fingerprint: text(raw['fingerprint']),
  }
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))
}

/** As the API takes it. */
export function letterFilter({ state, view: _view, ...rest }: LetterSearch) {
  return { ...rest, ...(state !== 'all' && { state: state ?? ('open' as const) }) }
}
