import { Icon } from './icon.tsx'
import { type StateKind, stateLook } from './states.ts'

export function State({
  kind,
  value,
  isPill = false,
  word,
}: {
  readonly kind: StateKind
  readonly value: string
  readonly isPill?: boolean
  /** Instead of the usual one. */
  readonly word?: string
}) {
  const look = stateLook(kind, value)
  return (
    <span className={`state ${look.tone}${isPill ? ' pill' : ''}`}>
      <Icon name={look.icon} />
      {word ?? look.word}
    </span>
  )
}
