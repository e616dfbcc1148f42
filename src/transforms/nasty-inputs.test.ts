import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { parsePayloadSchema } from '../schemas/payload-schema.ts'
import { builtInTransforms } from './built-in-transforms.ts'
import { sampleInput } from './sample-input.ts'
import { type CompiledTransform, TransformConfigError } from './transform.ts'

/** The rows of a table in the docs, as their cells. */
function tableRows(name: string): string[][] {
  const page = readFileSync(new URL('../../docs/transforms.md', import.meta.url), 'utf8')
  const lines = page.split(`<!-- table: ${name} -->\n`)[1]!.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('|'))
  const table = end === -1 ? lines : lines.slice(0, end)
  return table.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  )
}

/** `[` × 5,000 + `]` × 5,000 as the text that it describes. */
function textOf(cell: string): string {
  const pieces = [...cell.matchAll(/`([^`]*)`(?: × ([\d,]+))?/g)]
  return pieces.map(([, text = '', count = '1']) => text.repeat(Number(count.replaceAll(',', '')))).join('')
}

const registry = builtInTransforms()
const opened: CompiledTransform[] = []

afterAll(async () => {
  await Promise.all(opened.map(async (transform) => transform.close()))
})

async function outcomeOf(config: string, body: string): Promise<{ outcome: string; detail: string }> {
  try {
    const transform = registry.compile(JSON.parse(config))
    opened.push(transform)
    const result = await transform.render(sampleInput(body))
    return result.ok
      ? { outcome: 'sent', detail: result.rendered.body }
      : { outcome: result.error.code, detail: '' }
  } catch (error) {
    if (!(error instanceof TransformConfigError)) throw error
    return {
      outcome: 'refused',
      detail: `\`${error.path}\`${error.position === null ? '' : ` at ${error.position}`}`,
    }
  }
}

describe('the table of nasty inputs for transforms', { timeout: 60_000 }, () => {
  const rows = tableRows('transforms')

  it('has all its rows', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40)
  })

  it.each(rows)('is true: %s on %s → %s', async (config, payload, outcome, detail) => {
    const found = await outcomeOf(textOf(config), textOf(payload))
    expect(found.outcome).toBe(textOf(outcome))
    const isAsTold = found.detail === (found.outcome === 'sent' ? textOf(detail) : detail)
    if (!isAsTold) expect(found.detail.slice(0, 500)).toBe(detail)
  })
})

describe('the table of nasty inputs for schemas', () => {
  it.each(tableRows('schemas'))('is true: %s on %s → %s', (schema, payload, outcome, detail) => {
    const parsed = parsePayloadSchema(JSON.parse(textOf(schema)))
    const check = parsed.ok ? parsed.value.check(JSON.parse(textOf(payload))) : null
    const failures = parsed.ok ? (check?.ok === false ? check.failures : []) : parsed.problems
    expect(check === null ? 'refused' : check.ok ? 'ok' : check.code).toBe(textOf(outcome))
    expect(failures[0]?.path ?? '').toBe(textOf(detail))
  })
})
