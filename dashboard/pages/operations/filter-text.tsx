import { usePreferences } from '../../frame/preferences.ts'
import { useMinuteMs } from '../../live/server-clock.ts'
import { formatTime } from '../../parts/times.ts'
import { filterWords } from './operation-words.ts'

/** What an operation applies to, with times as the rest of the page shows them. */
export function FilterText({ filter }: { readonly filter: Readonly<Record<string, unknown>> }) {
  const now = new Date(useMinuteMs())
  const { zone } = usePreferences()
  return <bdi>{filterWords(filter, (at) => formatTime(at, now, zone))}</bdi>
}
