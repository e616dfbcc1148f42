import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBarriers } from '../support/browser/accessibility.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'

const hostile = {
  html: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  ansi: '\u001b[31mred\u001b[0m',
  rtl: 'invoice\u202Efdp.exe שלום',
  control: 'a\u0001b\u007fc',
  '<b>name</b>': 'of a field',
  long: 'x'.repeat(1_000_000 - 2000),
}

const traceId = 'a'.repeat(32)

describe.skipIf(browserPath === null)('events', () => {
  let rig: DashboardRig
  let hostileId = ''
  let tracedId = ''

  beforeAll(async () => {
    rig = await DashboardRig.create({ traceUrl: 'https://traces.example/trace/{traceId}' })
    const publish = async (type: string, payload: object, more: object = {}) => {
      const { status, body, text } = await rig.api.call('POST', '/v1/events', {
        body: { type, payload, ...more },
      })
      expect([status, text]).toEqual([202, text])
      return body.id as string
    }
    for (let order = 1; order <= 30; order++) {
      await publish(
        'order.created',
        { order, customer: { id: order % 10 } },
        { orderingKey: `c-${order % 10}` },
      )
    }
    hostileId = await publish('hostile.sent', hostile)
    tracedId = await publish(
      'order.traced',
      {},
      { headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` } },
    )
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('are found by ordering key, and by what their payload has', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto('/events?orderingKey=c-7')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(3)
    await page.goto('/events')
    await page.getByLabel('Payload path').fill('customer.id')
    await page.getByLabel('equals').fill('7')
    await page.getByText('3 events found. Scanned 32').waitFor()
    expect(await rows.count()).toBe(3)
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('equals').fill('77')
    await page.getByRole('heading', { name: 'No event has this in its payload' }).waitFor()
    await page.goto('/events?has=%22order%22%3A17')
    await page.getByText('1 event found. Scanned 32').waitFor()
    await page.goto('/events?path=a..b&equals=1')
    await page.getByText('must be a path into the payload').waitFor()
  })

  test('a search continues where it stopped on request', async () => {
    const page = await rig.signedIn('viewer')
    let step = 0
    await page.route('**/v1/events/search?*', async (route) => {
      step += 1
      const cursor = new URL(route.request().url()).searchParams.get('cursor')
      expect(cursor).toBe(step === 1 ? null : `msg_${step - 1}`)
      // Slower than anybody waits, so that it asks after each step.
      await new Promise((resolve) => setTimeout(resolve, 2100))
      await route.fulfill({
        json: {
          data: [],
          nextCursor: step === 3 ? null : `msg_${step}`,
          scanned: 20_000,
          scannedTo: step === 3 ? null : new Date().toISOString(),
          total: 60_000,
        },
      })
    })
    await page.goto('/events?has=needle')
    await page.getByText('0 events found. Scanned 20,000 of about 60,000.').waitFor()
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('Scanned 40,000 of about 60,000.').waitFor()
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('The whole time range has been looked at.').waitFor()
    expect(await page.getByRole('button', { name: 'Go on' }).count()).toBe(0)
  })

  test('lead to their trace in the tool that is configured', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto(`/events/${tracedId}`)
    const link = page.getByRole('link', { name: traceId })
    expect(await link.getAttribute('href')).toBe(`https://traces.example/trace/${traceId}`)
  })

  test('payloads with markup, escapes, turned text and a megabyte are shown as text', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto(`/events/${hostileId}`)
    const payload = page.getByRole('region', { name: 'Payload' })
    await payload.waitFor()
    await payload.getByRole('button', { name: /^All/ }).waitFor()
    const text = await payload.innerText()
    expect(text).toContain('<script>document.title=2</script>')
    expect(text).toContain('<b>name</b>')
    expect(text).toContain('\\u001b[31mred')
    expect(text).toContain('\\u202e')
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0008\u001b\u007f\u202a-\u202e]/)
    expect(text).toMatch(/x{100}[^]*in all/)
    expect(text.length).toBeLessThan(10_000)
    expect(await page.title()).toMatch(/^hostile\.sent/)
    expect(await payload.locator('img, script, b').count()).toBe(0)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).first().click()
    expect((await download).suggestedFilename()).toBe(`${hostileId}.json`)
    expect(await findBarriers(page)).toEqual([])
  })
})
