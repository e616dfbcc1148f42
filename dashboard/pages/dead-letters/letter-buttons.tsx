import { Icon } from '../../parts/icon.tsx'
import type { BulkKind } from './letters-view.tsx'

/** What can be done with dead letters: one, those selected, or all that match. */
export function LetterButtons({ onChoose }: { readonly onChoose: (kind: BulkKind) => void }) {
  return (
    <>
      <button type="button" className="button danger" onClick={() => onChoose('discard')}>
        Discard…
      </button>
      <button type="button" className="button" onClick={() => onChoose('resolve')}>
        Resolve…
      </button>
      <button type="button" className="button primary" data-key="r" onClick={() => onChoose('redrive')}>
        <Icon name="replay" />
        Redrive…
      </button>
    </>
  )
}
