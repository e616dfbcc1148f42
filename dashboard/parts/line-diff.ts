export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** The lines of two texts, with what was taken out before what was put in. By the longest common subsequence: texts here are short. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const left = before.split('\n')
  const right = after.split('\n')
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1))
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = lengths[i] as Uint16Array
      const below = lengths[i + 1] as Uint16Array
      row[j] = left[i] === right[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ kind: 'same', text: left[i] ?? '' })
      i++
      j++
    } else if (
      i < left.length &&
      (j >= right.length || (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))
    ) {
      lines.push({ kind: 'removed', text: left[i] ?? '' })
      i++
    } else {
      lines.push({ kind: 'added', text: right[j] ?? '' })
      j++
    }
  }
  return lines
}
