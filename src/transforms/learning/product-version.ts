import { readFileSync } from 'node:fs'

// The same depth from src and from dist.
const packageFile = new URL('../../../package.json', import.meta.url)
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }

/** Which transformer, and which version of it, made a statement. */
export const productVersion = `holdfast@${version}`
