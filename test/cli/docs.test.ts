import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { withSettingsTable } from '../../scripts/schema/settings-table.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { settingNames, settings } from '../../src/config/settings.ts'
import { retryJitters, retryStrategies } from '../../src/core/delivery/retry-policy.ts'
import { presetNames, presets } from '../../src/core/endpoints/presets.ts'
import { settingNames as endpointSettingNames } from '../../src/core/endpoints/setting-fields.ts'
import { type ErrorCode, errorCatalogue } from '../../src/core/errors.ts'
import { transformDescriptions } from '../../src/transforms/descriptions.ts'
import { transportDescriptions } from '../../src/transports/descriptions.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('docs/errors.md', () => {
  const text = read('docs/errors.md')

  test.each(Object.keys(errorCatalogue) as ErrorCode[])('has a section and a row for %s', (code) => {
    const { status, isRetryable } = errorCatalogue[code]
    expect(text).toMatch(new RegExp(`^## ${code}$`, 'm'))
    expect(text).toContain(`| [\`${code}\`](#${code}) | ${status} | ${isRetryable ? 'yes' : 'no'} |`)
  })

  test('has no section for a code that is gone', () => {
    const sections = [...text.matchAll(/^## (\w+)$/gm)].map(([, code]) => code)
    expect(sections.filter((code) => !Object.hasOwn(errorCatalogue, code!))).toEqual([])
  })
})

describe('docs/cli.md', async () => {
  const text = read('docs/cli.md')

  function leaves(command: Command, path: string): [string, Command][] {
    if (command.commands.length === 0) return [[path, command]]
    return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`.trim()))
  }

  test.each(leaves(await buildProgram(), ''))('describes %s and each of its options', (path, command) => {
    for (const word of path.split(' ')) expect(text).toMatch(new RegExp(`^## holdfast.*\\b${word}\\b`, 'm'))
    for (const { long } of command.options) expect(text, long ?? '').toContain(`${long}`)
  })
})

describe('docs/transports.md', () => {
  const text = read('docs/transports.md')

  test.each(transportDescriptions)(
    'has a row, a section and the fields of $name',
    ({ name, sendsTo, config }) => {
      const isDefault = name === 'http' ? ' (default)' : ''
      expect(text).toContain(`| [\`${name}\`](#${name})${isDefault} | ${sendsTo} |`)
      const section = text.split(/^## /m).find((each) => each.startsWith(`${name}\n`)) ?? ''
      const own = Object.keys(config.shape).filter((field) => field !== 'classify')
      expect(own.filter((field) => !section.includes(`\`${field}\``))).toEqual([])
    },
  )

  test('names every transport for --transport', () => {
    const names = transportDescriptions.map(({ name }) => `\`${name}\``)
    for (const name of names) {
      expect(read('docs/cli.md')).toMatch(new RegExp(`^\\| \`--transport <name>\`.*${name}`, 'm'))
    }
  })
})

describe('docs/transforms.md', () => {
  const text = read('docs/transforms.md')

  test.each(transformDescriptions)('has a row for $name', ({ name, makes }) => {
    expect(text).toMatch(new RegExp(`^\\| \`${name}\`(?: \\(default\\))? \\| `, 'm'))
    expect(text).toContain(`| ${makes} |`)
  })
})

describe('docs/endpoints.md', () => {
  const text = read('docs/endpoints.md')

  test.each([...retryStrategies, ...retryJitters])('explains %s', (name) =>
    expect(text).toContain(`\`${name}\``),
  )

  test.each(endpointSettingNames)('explains %s', (name) => expect(text).toContain(name))
})

describe('docs/configuration.md', () => {
  const text = read('docs/configuration.md')

  test.each(settingNames)('describes %s', (name) => {
    expect(text).toContain(`| \`${settings[name].variable}\` | \`${name}\` |`)
  })
})

test('docs/settings.md has the settings as they are', () => {
  const text = read('docs/settings.md')
  expect(text).toBe(withSettingsTable(text))
})

test('docs/endpoints.md lists the presets as they are', () => {
  const text = read('docs/endpoints.md')
  for (const name of presetNames) {
    const { retry, circuit, timeoutMs } = presets[name]
    const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\``))!
    expect(row).toContain(`| ${retry.maxRetries} |`)
    expect(row).toContain(
      `| ${circuit.threshold} failures, ${circuit.cooldownMs / 1000} s | ${timeoutMs / 1000} s |`,
    )
  }
})

describe('CONTRIBUTING.md', () => {
  test('names files that exist', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|docs|dashboard)\/[\w./-]+)`/g)].map(
      ([, path]) => path!,
    )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

function pagesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))
}

describe('links', () => {
  const files = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'SECURITY.md',
    'bench/README.md',
    'src/sql/README.md',
    ...pagesBelow('docs'),
    ...pagesBelow('examples'),
  ]

  test.each(files)('the links of %s have a target', (file) => {
    const targets = [...read(file).matchAll(/\]\(([^)#\s]*)(#[^)\s]*)?\)/g)]
    for (const [link, path, anchor] of targets) {
      if (/^https?:/.test(path!)) continue
      const target = path === '' ? file : join(dirname(file), path!)
      expect(existsSync(join(root, target)), link).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(read(target)), link).toContain(anchor)
    }
  })

  function anchorsOf(text: string): string[] {
    return [...text.matchAll(/^#+ (.+)$/gm)].map(
      ([, title]) =>
        `#${title!
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-')}`,
    )
  }
})
