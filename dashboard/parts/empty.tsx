import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** An empty list says why it is empty. A filter without matches offers to clear it; a new install shows the next step. */
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
