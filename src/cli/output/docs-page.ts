import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of a page of the documentation, which is installed with the package; its name alone where the page was left out. */
export function docsPage(name: string): string {
  // The same number of folders below the package in `src` and in `dist`.
  const path = fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url))
  return existsSync(path) ? path : `docs/${name}`
}
