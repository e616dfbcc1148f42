import { Link, useMatches } from '@tanstack/react-router'
import { setPreference, usePreferences } from './preferences.ts'
import { defaultRange, pagesOfRange, rangeNames, ranges } from './time-range.ts'

export function RangeChoice() {
  const isUsed = useMatches({ select: (matches) => pagesOfRange.includes(matches.at(-1)?.fullPath ?? '') })
  if (!isUsed) return null
  return (
    <div className="segments" role="group" aria-label="Time range">
      {ranges.map((one) => (
        <Link
          key={one}
          to="."
          search={(before) => ({ ...before, range: one === defaultRange ? undefined : one })}
          activeOptions={{ exact: true }}
        >
          {rangeNames[one]}
        </Link>
      ))}
    </div>
  )
}

export function ZoneChoice() {
  const { zone } = usePreferences()
  return (
    <div className="segments" role="group" aria-label="Times in">
      {(['local', 'utc'] as const).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === zone}
          onClick={() => setPreference({ zone: one })}
        >
          {one === 'utc' ? 'UTC' : 'Local'}
        </button>
      ))}
    </div>
  )
}

export function ColourChoice() {
  const { theme } = usePreferences()
  return (
    <div className="segments" role="group" aria-label="Colours">
      {(['system', 'light', 'dark'] as const).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === theme}
          onClick={() => setPreference({ theme: one })}
        >
          {one === 'system' ? 'As the system' : one === 'light' ? 'Light' : 'Dark'}
        </button>
      ))}
    </div>
  )
}
