import { readFileSync } from 'node:fs'

// The path has the same depth from src and from dist.
const packageFile = new URL('../../../package.json', import.meta.url)
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }

/** The transformer, and its version, that created a statement. */
export const productVersion = `holdfast@${version}`
