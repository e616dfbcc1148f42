import { Note } from '../parts/note.tsx'

/** A defect of the dashboard itself, or a part of it that could not be loaded after an update. */
export function PageFailed({ error }: { readonly error: unknown }) {
  return (
    <Note
      tone="bad"
      role="alert"
      lead="This page can't be shown."
      actions={
        <button type="button" className="button" onClick={() => location.reload()}>
          Load it again
        </button>
      }
    >
      {error instanceof Error ? error.message : String(error)}. Holdfast itself is not affected. After an
      update the page has to be loaded again.
    </Note>
  )
}
