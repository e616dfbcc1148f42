import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyRule, findBarriers, rulesOfColour } from '../support/browser/accessibility.ts'
import { openAtRest } from '../support/browser/at-rest.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { fillWithEverything, type Places } from '../support/browser/fill-with-everything.ts'

/** `HOLDFAST_SCREENSHOTS=folder` keeps a picture of every page; `HOLDFAST_PAGES=endpoint,route` looks at these only. */
const screenshots = process.env['HOLDFAST_SCREENSHOTS']
const wanted = process.env['HOLDFAST_PAGES']?.split(',')

const widths = [
  ['1280 px', 'desktop', {}],
  ['a phone', 'phone', { isPhone: true }],
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

  test.each(widths)(
    'has no barrier, light or dark, and fits its screen: %s',
    async (_, width, options) => {
      const page = await rig.signedIn('admin', options)
      const barriers: string[] = []
      const look = async (name: string, path: string, colorScheme: 'light' | 'dark') => {
        await page.emulateMedia({ colorScheme })
        // Colours change over some frames.
        await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)))
        if (screenshots !== undefined) {
          mkdirSync(screenshots, { recursive: true })
          await page.screenshot({
            path: join(screenshots, `${name}-${width}-${colorScheme}.png`),
            fullPage: true,
          })
        }
        const found = await findBarriers(page, colorScheme === 'light' ? everyRule : rulesOfColour)
        barriers.push(...found.map((barrier) => `${path}, ${colorScheme}: ${barrier}`))
      }
      for (const [name, { path, heading }] of Object.entries(places)) {
        if (wanted?.includes(name) === false) continue
        await openAtRest(page, path, heading)
        await look(name, path, 'light')
        await look(name, path, 'dark')
        const [content, screen] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          window.innerWidth,
        ])
        if (content !== screen) barriers.push(`${path}: ${content} px wide on a screen of ${screen}`)
      }
      expect(barriers).toEqual([])
    },
    240_000,
  )
})
