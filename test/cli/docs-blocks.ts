import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Block {
  /** `docs/jobs.md:12`, its first line. */
  readonly place: string
  readonly language: string
  readonly text: string
}

/** The README, the pages of docs and those of the examples; what is written from the source has no examples. */
export const pages: readonly string[] = [
  'README.md',
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !/^(decisions|reference)\//.test(file))
      .map((file) => join(folder, file)),
  ),
]

/** Every fenced block of these pages. */
export function blocks(): Block[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(/^```(\S*)\n(.*?)^```$/gms)].map((found) => ({
      place: `${page}:${text.slice(0, found.index).split('\n').length + 1}`,
      language: found[1] ?? '',
      text: found[2] ?? '',
    }))
  })
}
