import type { ReactNode } from 'react'
import { togglePaused, useLiveMode } from '../live/live-mode.ts'
import { Icon } from '../parts/icon.tsx'
import { RangeChoice, ZoneChoice } from './view-choices.tsx'

const liveWords = { live: 'Live', polling: 'Polling, 10 s', paused: 'Paused' } as const

export function TopBar({
  crumbs,
  onFind,
  onHelp,
}: {
  readonly crumbs: ReactNode
  readonly onFind: () => void
  readonly onHelp: () => void
}) {
  return (
    <header className="top">
      <nav className="crumbs min-w-0" aria-label="Where you are">
        {crumbs}
      </nav>
      <button type="button" className="find" onClick={onFind}>
        <Icon name="search" />
        <span className="cut">Find by name or id</span>
        <span className="key" aria-hidden="true">
          {isApple ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      <RangeChoice />
      <ZoneChoice />
      <LiveButton />
      <button
        type="button"
        className="button ghost square desk"
        aria-label="Keys and settings"
        onClick={onHelp}
      >
        ?
      </button>
    </header>
  )
}

export const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

function LiveButton() {
  const mode = useLiveMode()
  return (
    <button
      type="button"
      className={`live ${mode}`}
      aria-label={`${liveWords[mode]}. ${mode === 'paused' ? 'Resume' : 'Pause'} updates`}
      onClick={togglePaused}
    >
      {liveWords[mode]}
    </button>
  )
}
