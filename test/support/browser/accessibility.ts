import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** WCAG 2.2 AA, and axe's best practices. */
export const everyRule = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}
/** Those of them that another theme can break. */
export const rulesOfColour = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** What axe finds wrong with a page, or with a part of it, one line each. Evaluated from outside, where the page's policy doesn't reach. */
export async function findBarriers(page: Page, rules = everyRule, part = ':root'): Promise<string[]> {
  // Half a megabyte of script, once for each document.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(source)
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(${JSON.stringify(part)}, { runOnly: ${JSON.stringify(rules)} })`,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  )
}
