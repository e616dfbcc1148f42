import { readFileSync } from 'node:fs'

/** The package's own file; it stands one folder above src and dist alike. */
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
  readonly engines: { readonly node: string }
}

/** The package's own version. */
export const version: string = manifest.version

/** The oldest Node.js that Holdfast runs on, like `20.19`. */
export const oldestNode: string = manifest.engines.node.replace(/^>=/, '')
