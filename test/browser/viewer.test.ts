import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAtRest } from '../support/browser/at-rest.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { fillWithEverything, type Places } from '../support/browser/fill-with-everything.ts'

describe.skipIf(browserPath === null)('a viewer', () => {
  let rig: DashboardRig
  let places: Places

  beforeAll(async () => {
    rig = await DashboardRig.create()
    places = await fillWithEverything(rig.api)
  })

  afterAll(async () => {
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('is offered nothing that writes, on any page', async () => {
    const page = await rig.signedIn('viewer')
    const writes: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') writes.push(`${request.method()} ${new URL(request.url()).pathname}`)
    })
    const offers: string[] = []
    for (const { path, heading } of Object.values(places)) {
      await openAtRest(page, path, heading)
      offers.push(...(await offersOn(page)).map((offer) => `${path}: ${offer}`))
    }
    expect(offers).toEqual([])
    // What a page asks by itself counts or renders, and is a POST because of its body.
    expect(writes.filter((call) => !/\/(?:preview|matches|check|trial)$/.test(call))).toEqual([])
  }, 180_000)
})

/** Buttons that open a dialog of an action or act at once, and fields that can be edited outside of filters. */
async function offersOn(page: Page): Promise<string[]> {
  return page.locator('main').evaluate((main) => {
    const buttons = [...main.querySelectorAll<HTMLButtonElement>('button')].filter(
      ({ textContent, className }) => textContent.endsWith('…') || /\b(?:primary|danger)\b/.test(className),
    )
    const fields = main.querySelectorAll<HTMLElement>(
      '.card textarea:not([readonly]), .card input.input:not([readonly]):not([placeholder="msg_…"])',
    )
    return [...buttons, ...fields].map((element) => element.textContent || element.outerHTML.slice(0, 120))
  })
}
