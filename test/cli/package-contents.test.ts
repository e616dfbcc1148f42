import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'

const dist = new URL('../../dist/', import.meta.url)

/** As an application's bundler does; what a browser lacks stays an import, to be seen. */
async function bundle(entry: string): Promise<Rolldown.OutputChunk[]> {
  const [result] = (await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      lib: { entry: fileURLToPath(new URL(entry, dist)), formats: ['es'], fileName: 'bundle' },
      rolldownOptions: { external: [/^node:/] },
    },
  })) as Rolldown.RolldownOutput[]
  return result!.output.filter((part) => part.type === 'chunk')
}

function packageOf(moduleId: string): string[] {
  const [, scoped] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(moduleId) ?? []
  return scoped === undefined ? [] : [scoped]
}

test('holdfast/client in a bundler brings nothing of Node.js, and no package but zod', async () => {
  const chunks = await bundle('client/index.js')
  const code = chunks.map((chunk) => chunk.code).join('\n')
  expect(chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])).toEqual([])
  expect(new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)))).toEqual(new Set(['zod']))
  expect(/\bBuffer\.\w+|\bprocess\.\w+|\brequire\(/.exec(code)?.[0]).toBeUndefined()
})

test('the notices of the dashboard contain the licence of every package in its bundle', () => {
  const notices = readFileSync(new URL('dashboard/THIRD-PARTY-NOTICES.md', dist), 'utf8')
  const sections = notices.split(/^## /m).slice(1)
  const named = sections.map((section) => section.slice(0, section.indexOf(' - ')))
  expect(named).toEqual(
    expect.arrayContaining([
      'react',
      'react-dom',
      '@base-ui/react',
      '@tanstack/react-query',
      'uplot',
      'tailwindcss',
    ]),
  )
  for (const section of sections) expect(section).toMatch(/copyright/i)
  const { version } = createRequire(import.meta.url)('tailwindcss/package.json') as { version: string }
  expect(notices).toContain(`## tailwindcss - ${version} (MIT)`)
})
