// `npm run reference`: writes docs/reference from the source. With --check, as in `npm run lint`, it only reports pages that are out of date, and
// pages of docs and examples that are missing in their index.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { referencePages } from './pages.ts'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))
const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const isCheck = process.argv.includes('--check')
const problems: string[] = []

for (const [name, text] of await referencePages()) {
  const file = join(docs, 'reference', name)
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (stored === text) continue
  if (isCheck) problems.push(`docs/reference/${name} is out of date: run npm run reference`)
  else await writeFile(file, text)
}

const index = await readFile(join(docs, 'README.md'), 'utf8')
const pages = (await readdir(docs)).filter((name) => name.endsWith('.md') && name !== 'README.md')
for (const name of pages)
  if (!index.includes(`](${name})`)) problems.push(`docs/README.md, the index, doesn't name ${name}`)

const list = await readFile(join(examples, 'README.md'), 'utf8')
for (const entry of await readdir(examples, { withFileTypes: true }))
  if (entry.isDirectory() && !list.includes(`](${entry.name}/README.md)`))
    problems.push(`examples/README.md doesn't name ${entry.name}/README.md`)

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
