import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const folder = new URL('../../dist/dashboard/', import.meta.url)
const assets = new URL('assets/app/', folder)
const files = readdirSync(assets).map((name) => {
  const bytes = readFileSync(new URL(name, assets))
  return { name, text: bytes.toString('utf8'), gzippedBytes: gzipSync(bytes, { level: 9 }).length }
})
const kilobytes = (list: typeof files) => list.reduce((sum, { gzippedBytes }) => sum + gzippedBytes, 0) / 1000

/** What a file loads at once, and what those load. */
function loadedWith(names: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const visit = (name: string): void => {
    const file = files.find((one) => one.name === name)
    if (file === undefined || seen.has(name)) return
    seen.add(name)
    for (const [, imported] of file.text.matchAll(/(?:from|^import|;import)\s*["']\.\/([\w.-]+)["']/g)) {
      visit(imported ?? '')
    }
  }
  for (const name of names) visit(name)
  return seen
}

test('the first load of the overview is at most 160 kB, all of it at most 400 kB', () => {
  const page = readFileSync(new URL('index.html', folder), 'utf8')
  const first = [...page.matchAll(/assets\/app\/([\w.-]+)/g)].map(([, name]) => name ?? '')
  const overview = files.find(({ name }) => name.startsWith('overview-page'))?.name ?? ''
  expect(first.length).toBeGreaterThan(1)
  expect(overview).not.toBe('')
  const loaded = loadedWith([...first, overview])
  expect(kilobytes(files.filter(({ name }) => loaded.has(name)))).toBeLessThan(160)
  expect(kilobytes(files)).toBeLessThan(400)
})

test('the bundle has types of the contract only: no zod, nothing of Node.js', () => {
  for (const { name, text } of files) {
    expect([name, /ZodError|node:crypto|invalid_union/.exec(text)?.[0]]).toEqual([name, undefined])
  }
})
