import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { until } from '../support/engine/until.ts'

const letters = 6

describe.skipIf(browserPath === null)('a list of dead letters', () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    await rig.api.call('POST', '/v1/endpoints', {
      body: {
        name: 'erp',
        // Nobody listens there.
        config: { url: 'http://127.0.0.1:9009/hooks' },
        retry: { maxRetries: 0 },
        circuit: { threshold: 1000 },
      },
    })
    for (let order = 0; order < letters; order++) {
      await rig.api.call('POST', '/v1/endpoints/erp/send', { body: { payload: { order } } })
    }
    await until(
      'dead letters',
      async () => (await rig.api.call('GET', '/v1/endpoints/erp/health')).body.deadLetters,
      (count) => count === letters,
    )
  })

  afterAll(async () => {
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('is walked, selected and redriven by keys, and Escape takes each back', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/dead-letters?view=letters')
    const rows = page.locator('tbody tr[aria-rowindex]')
    await expect.poll(() => rows.count()).toBe(letters)
    const bar = page.getByRole('group', { name: 'Selected letters' })
    await bar.getByText('All that match').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('x')
    await bar.getByText('1 dead letter', { exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Shift+X')
    await bar.getByText('3 dead letters', { exact: true }).waitFor()
    await page.keyboard.press('r')
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive 3' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await bar.getByText('3 dead letters', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await bar.getByText('All that match').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/dead-letters/dlt_*')
    await page.goBack()
    await page.waitForURL('**/dead-letters?view=letters')
  })

  test('has the focus again where it was, when a dialog closes', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/dead-letters?view=letters')
    const button = page.getByRole('button', { name: 'Discard…' })
    await button.click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  test('asks for nothing in a hidden tab, and again when it is looked at', async () => {
    const page = await rig.signedIn('viewer')
    await page.clock.install()
    // Without its stream a page asks every ten seconds, and says so.
    await page.route('**/v1/stream?*', (route) => route.abort())
    await page.goto('/dead-letters?view=letters')
    await page.getByText('Polling, 10 s').waitFor()
    let asked = 0
    page.on('request', (request) => {
      if (/\/v1\/dead-letters\?/.test(request.url())) asked += 1
    })
    const show = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        const state = hidden ? 'hidden' : 'visible'
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
        Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      }, isHidden)
    await page.clock.runFor(10_500)
    await expect.poll(() => asked).toBeGreaterThan(0)
    await show(true)
    const before = asked
    await page.clock.runFor(60_000)
    expect(asked).toBe(before)
    await show(false)
    await page.clock.runFor(11_000)
    await expect.poll(() => asked).toBeGreaterThan(before)
  })
})
