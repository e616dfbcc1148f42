import { useEffect, useState } from 'react'

export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly toggle: (id: string, isOn: boolean) => void
  readonly set: (ids: readonly string[]) => void
}

/** What is selected; it survives scrolling and ends with a change of the filter. */
export function useSelection(filterText: string): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  // oxlint-disable-next-line react/exhaustive-deps -- another filter is another list
  useEffect(() => setIds(new Set()), [filterText])
  return {
    ids,
    toggle: (id, isOn) =>
      setIds((before) => {
        const after = new Set(before)
        if (isOn) after.add(id)
        else after.delete(id)
        return after
      }),
    set: (list) => setIds(new Set(list)),
  }
}
