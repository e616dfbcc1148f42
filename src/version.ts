import { readFileSync } from 'node:fs'

/** The package's own version; package.json stands one folder above src and dist alike. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version
