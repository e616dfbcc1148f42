import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { alertKinds, runbookAnchor } from '../../../src/core/alerts/alert-kinds.ts'

describe('every kind of alert', () => {
  const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8')
  const sections = new Map(
    runbook
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const [title = '', ...text] = section.split('\n')
        return [title.toLowerCase().replaceAll(' ', '-'), text.join('\n')]
      }),
  )

  it.each(Object.keys(alertKinds))('%s has its section in the runbook: what it means, and steps', (kind) => {
    const section = sections.get(runbookAnchor(kind))
    expect(section).toContain('**Means**')
    expect(section).toMatch(/^1\. /m)
  })

  it('is all that the runbook speaks of', () => {
    expect([...sections.keys()].sort()).toEqual(Object.keys(alertKinds).map(runbookAnchor).sort())
  })
})
