import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyRule, findBarriers } from '../support/browser/accessibility.ts'
import { openAtRest } from '../support/browser/at-rest.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { fillWithEverything, type Places } from '../support/browser/fill-with-everything.ts'

const looks = [
  ['light', {}],
  ['on a phone, dark', { isPhone: true, isDark: true }],
] as const

describe.skipIf(browserPath === null)('every dialog', () => {
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

  /** A button that asks before it acts ends with an ellipsis. */
  test.each(looks)(
    'has no barrier: %s',
    async (_, options) => {
      const page = await rig.signedIn('admin', options)
      const barriers: string[] = []
      const opened: string[] = []
      const look = async (what: string) => {
        await page.getByRole('dialog').waitFor()
        opened.push(what)
        barriers.push(
          ...(await findBarriers(page, everyRule, '[role=dialog]')).map((barrier) => `${what}: ${barrier}`),
        )
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      for (const { path, heading } of Object.values(places)) {
        await openAtRest(page, path, heading)
        const asking = page.locator('main button:visible', { hasText: '…' })
        const verbs = new Set((await asking.allInnerTexts()).map((text) => text.split('…')[0]?.trim() ?? ''))
        for (const verb of verbs) {
          const button = asking.filter({ hasText: new RegExp(`^\\s*${verb}…`) }).first()
          if (verb === '' || (await button.isDisabled())) continue
          await button.click()
          await look(`${path} ${verb}`)
        }
      }
      await page.goto('/settings')
      await page.getByLabel('Rejecting after').fill('25')
      await page.getByRole('button', { name: 'Review changes' }).click()
      await look('/settings review')
      if (!('isPhone' in options)) {
        await page.getByRole('link', { name: 'Queues' }).click()
        await look('/settings leave')
        await page.keyboard.press('Control+k')
        await look('palette')
      }
      expect(barriers).toEqual([])
      expect(opened.length, opened.join(', ')).toBeGreaterThan(30)
    },
    300_000,
  )
})
