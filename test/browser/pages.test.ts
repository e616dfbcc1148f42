import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBarriers } from '../support/browser/accessibility.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { fillWithEverything, type Places } from '../support/browser/fill-with-everything.ts'

/** `HOLDFAST_SCREENSHOTS=folder` keeps a picture of every page; `HOLDFAST_PAGES=endpoint,route` looks at these only. */
const screenshots = process.env['HOLDFAST_SCREENSHOTS']
const wanted = process.env['HOLDFAST_PAGES']?.split(',')

const looks = [
  ['light', {}],
  ['dark', { isDark: true }],
  ['phone', { isPhone: true }],
  ['phone-dark', { isPhone: true, isDark: true }],
] as const

describe.skipIf(browserPath === null)('every page', () => {
  let rig: DashboardRig
  let places: Places

  beforeAll(async () => {
    rig = await DashboardRig.create()
    places = await fillWithEverything(rig.api)
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test.each(looks)(
    'has no barrier, and fits its screen: %s',
    async (look, options) => {
      const page = await rig.signedIn('admin', options)
      const barriers: string[] = []
      for (const [name, { path, heading }] of Object.entries(places)) {
        if (wanted?.includes(name) === false) continue
        await page.goto(path)
        await page.getByRole('heading', { level: 1, name: heading }).waitFor()
        await page.waitForLoadState('networkidle').catch(() => {})
        await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
        if (screenshots !== undefined) {
          mkdirSync(screenshots, { recursive: true })
          await page.screenshot({ path: join(screenshots, `${name}-${look}.png`), fullPage: true })
        }
        barriers.push(...(await findBarriers(page)).map((barrier) => `${path}: ${barrier}`))
        const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth])
        if (width[0] !== width[1]) barriers.push(`${path}: ${width[0]} px wide on a screen of ${width[1]}`)
      }
      expect(barriers).toEqual([])
    },
    180_000,
  )
})
