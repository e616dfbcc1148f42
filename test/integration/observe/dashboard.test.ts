import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type MetricKey, metricCatalogue, metricPrefix } from '../../../src/observe/metrics/catalogue.ts'

interface Panel {
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly expr: string }[]
}

describe('the Grafana dashboard', () => {
  const text = readFileSync(new URL('../../../examples/grafana/dashboard.json', import.meta.url), 'utf8')
  const { panels } = JSON.parse(text) as { panels: Panel[] }
  const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })))

  /** The names in a query without prefix, with what a histogram adds to its own. */
  const namesIn = (expr: string) => [...expr.matchAll(/holdfast_([a-z_]+)/g)].map(([, name]) => name!)

  it.each(queries)('$title asks for what there is: $expr', ({ expr }) => {
    expect(namesIn(expr).length).toBeGreaterThan(0)
    for (const name of namesIn(expr)) {
      const key = name.replace(/_bucket$/, '') as MetricKey
      expect(Object.keys(metricCatalogue)).toContain(key)
      const { type } = metricCatalogue[key]
      expect(name.endsWith('_bucket')).toBe(type === 'histogram')
      expect(/(rate|increase)\(/.test(expr)).toBe(type !== 'gauge')
    }
  })

  it('shows every metric', () => {
    const shown = new Set(
      queries.flatMap(({ expr }) => namesIn(expr)).map((name) => name.replace(/_bucket$/, '')),
    )
    expect([...shown].sort()).toEqual(Object.keys(metricCatalogue).sort())
    expect(metricPrefix).toBe('holdfast_')
  })

  it('lays no panel over another, nor beyond the edge', () => {
    for (const [index, { gridPos: one }] of panels.entries()) {
      expect(one.x + one.w).toBeLessThanOrEqual(24)
      for (const { gridPos: other } of panels.slice(index + 1)) {
        const isApart =
          one.x + one.w <= other.x ||
          other.x + other.w <= one.x ||
          one.y + one.h <= other.y ||
          other.y + other.h <= one.y
        expect(isApart).toBe(true)
      }
    }
  })

  it.skipIf(spawnSync('promtool', ['--version']).status !== 0)(
    'has queries that Prometheus can parse',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'holdfast-rules-'))
      const rules = queries.map(({ expr }, index) => ({
        record: `checked:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      }))
      const file = join(folder, 'rules.yml')
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
      const { status, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
      rmSync(folder, { recursive: true })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    },
  )
})
