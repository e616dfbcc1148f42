import { lineDiff } from './line-diff.ts'
import { visibleText } from './visible-text.ts'

const marks = { same: '  ', added: '+ ', removed: '- ' } as const
const classes = { same: '', added: 'added', removed: 'removed' } as const

/** What a save would change, line by line; a mark as well as a colour says how. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  return (
    <pre className="code wrap" tabIndex={0} role="region" aria-label="Changes">
      {lineDiff(before, after).map(({ kind, text }, place) => (
        // oxlint-disable-next-line react/no-array-index-key -- a line has no other name than its place
        <span key={place} className={classes[kind]}>
          {marks[kind]}
          {visibleText(text)}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
