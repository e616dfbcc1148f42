import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import type { Tone } from './states.ts'

const icons: Readonly<Record<Tone, IconName>> = {
  ok: 'ok',
  warn: 'warning',
  bad: 'failed',
  accent: 'info',
  neutral: 'info',
}

/** A sentence that stands out: what is so, what it means, and what to do about it. */
export function Note({
  tone,
  icon,
  lead,
  children,
  actions,
  role,
}: {
  readonly tone: Tone
  readonly icon?: IconName
  readonly lead: ReactNode
  readonly children?: ReactNode
  readonly actions?: ReactNode
  readonly role?: 'alert' | 'status'
}) {
  return (
    <div className={`note ${tone}`} role={role}>
      <Icon name={icon ?? icons[tone]} />
      <p className="lead">{lead}</p>
      {children !== undefined && <div className="rest">{children}</div>}
      {actions !== undefined && <div className="actions">{actions}</div>}
    </div>
  )
}
