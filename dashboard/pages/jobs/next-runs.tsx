import { useApi } from '../../api/use-api.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Time } from '../../parts/time.tsx'
import { clockChanges } from './clock-changes.ts'

const shown = 5

/** The next five runs in the schedule's own time zone, with a word about days on which clocks change. */
export function NextRuns({ schedule }: { readonly schedule: string }) {
  const next = useApi('schedules.get', { params: { name: schedule } }, { topics: ['changes'] })
  return (
    <section className="card">
      <header>
        <h2>Next five runs</h2>
        <span className="hint">{next.data?.timezone}</span>
      </header>
      <Loaded of={next}>
        {({ next: times, cron, timezone }) => {
          const notes = clockChanges(times.slice(0, shown), { cron, timezone })
          const hasSeconds = times.some((at) => new Date(at).getUTCSeconds() !== 0)
          return (
            <ul>
              {times.slice(0, shown).map((at, place) => (
                <li key={at} className="px-4 py-2 border-b border-line last:border-0">
                  <div className="flex gap-3">
                    <b className="grow">{inZone(at, timezone, hasSeconds)}</b>
                    <span className="hint">
                      <Time at={at} as="in" />
                    </span>
                  </div>
                  {notes[place] !== null && (
                    <p className="hint flex gap-1 items-center">
                      <Icon name="info" /> {notes[place]}
                    </p>
                  )}
                </li>
              ))}
              {times.length === 0 && <li className="px-4 py-2 quiet">None.</li>}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}

function inZone(at: string, timeZone: string, hasSeconds: boolean): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds && { second: '2-digit' }),
    timeZoneName: 'short',
  }).format(new Date(at))
}
