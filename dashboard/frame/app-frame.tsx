import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { may } from '../api/session.ts'
import { useOutage } from '../live/outage.ts'
import { OperationTray } from '../pages/operations/operation-tray.tsx'
import { NeedsRole } from '../parts/needs-role.tsx'
import { useAnnouncement } from './announcements.ts'
import { Crumbs } from './crumbs.tsx'
import { Navigation } from './navigation.tsx'
import { OutageBanner } from './outage-banner.tsx'
import { TabBar } from './tab-bar.tsx'
import { TopBar } from './top-bar.tsx'
import { UndoTray } from './undo-tray.tsx'
import { useKeys } from './use-keys.ts'

const HelpDialog = lazy(async () => ({ default: (await import('./help-dialog.tsx')).HelpDialog }))
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

type Floating = 'none' | 'help' | 'palette'

/** What stands around every page. */
export function AppFrame() {
  const [floating, setFloating] = useState<Floating>('none')
  const [isMenuShown, setIsMenuShown] = useState(false)
  const navigate = useNavigate()
  const { pathname } = useLocation()
  useEffect(() => setIsMenuShown(false), [pathname])
  useKeys({
    onFind: () => setFloating('palette'),
    onHelp: () => setFloating('help'),
    onGo: (path) => void navigate({ to: path }),
    path: pathname,
  })
  const isAway = useOutage() !== null
  const close = () => setFloating('none')
  return (
    <>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the page
      </button>
      <div className="frame">
        <Navigation isShown={isMenuShown} onChoose={() => setIsMenuShown(false)} />
        <div className="content">
          <TopBar
            crumbs={<Crumbs />}
            onFind={() => setFloating('palette')}
            onHelp={() => setFloating('help')}
          />
          <main id="main" tabIndex={-1} {...(isAway && { 'data-away': true })}>
            <OutageBanner />
            {may('read') ? <Outlet /> : <NeedsRole what="The dashboard" permission="read" />}
          </main>
        </div>
      </div>
      <TabBar isMenuShown={isMenuShown} onMenu={() => setIsMenuShown(!isMenuShown)} />
      <OperationTray />
      <UndoTray />
      <Announcements />
      <Suspense>
        {floating === 'help' && <HelpDialog onClose={close} />}
        {floating === 'palette' && <Palette onClose={close} />}
      </Suspense>
    </>
  )
}

function Announcements() {
  const text = useAnnouncement()
  return (
    <div className="vh" role="status" aria-live="polite">
      {text}
    </div>
  )
}
