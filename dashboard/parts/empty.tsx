import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** Nothing to show, and why; a filter that met nothing offers the way out, a new install the next step. */
export function Empty({
  icon,
  title,
  isWell = false,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  /** Nothing is wrong, and that is why there is nothing. */
  readonly isWell?: boolean
  readonly children?: ReactNode
}) {
  return (
    <div className={`empty${isWell ? ' ok' : ''}`}>
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}
