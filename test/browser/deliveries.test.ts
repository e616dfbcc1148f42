import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampleEvent } from '../../src/transforms/learning/sample-events.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { until } from '../support/engine/until.ts'

const transform = {
  type: 'xapi',
  platformUrl: 'https://learn.example',
  actor: { from: 'map', map: { '*': 'learner-1' } },
  onUnknown: 'skip',
}
/** Nobody listens there. */
const deaf = { url: 'http://127.0.0.1:9009/hooks' }

describe.skipIf(browserPath === null)('deliveries', () => {
  let rig: DashboardRig
  let eventId = ''
  const later: string[] = []

  beforeAll(async () => {
    rig = await DashboardRig.create()
    const post = async (path: string, body: object) => {
      const { status, text, body: answer } = await rig.api.call('POST', path, { body })
      expect([path, status < 400, text]).toEqual([path, true, text])
      return answer
    }
    await post('/v1/endpoints', { name: 'lrs', preset: 'record-store', config: deaf })
    await post('/v1/endpoints', {
      name: 'crm',
      config: deaf,
      // Without jitter: a second attempt within the test would change what pages say.
      retry: { baseDelayMs: 600_000, maxDelayMs: 600_000, maxRetries: 5, jitter: 'none' },
    })
    await post('/v1/routes', { name: 'to-lrs', eventType: 'page_close', endpoint: 'lrs', transform })
    await post('/v1/routes', { name: 'to-crm', eventType: 'page_close', endpoint: 'crm' })
    eventId = (await post('/v1/events', { type: 'page_close', payload: sampleEvent('page_close', {}) })).id
    for (const minutes of [30, 20]) {
      const deliverAt = new Date(Date.now() + minutes * 60_000).toISOString()
      later.push((await post('/v1/events', { type: 'page_close', payload: {}, deliverAt })).id)
    }
    await until(
      'the first attempts',
      async () => (await rig.api.call('GET', `/v1/events/${eventId}`)).body.deliveries,
      (deliveries) =>
        deliveries.some(({ state }: { state: string }) => state === 'skipped') &&
        deliveries.some(({ attempt }: { attempt: number }) => attempt === 1),
    )
  })

  afterAll(async () => {
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('of an event are a tree of routes that says what was skipped, and why', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto(`/events/${eventId}`)
    const card = page.getByRole('region', { name: 'Deliveries' })
    await card.getByText('2: 1 skipped, 1 pending').or(card.getByText('2: 1 pending, 1 skipped')).waitFor()
    const branch = (route: string) =>
      card.getByRole('listitem').filter({ has: page.getByRole('link', { name: route, exact: true }) })
    await branch('to-lrs').getByText('Skipped').waitFor()
    expect(await branch('to-lrs').innerText()).toMatch(/lrs[^]*not sent: /)
    await branch('to-crm')
      .getByText(/1 attempt, next in 1?\d min/)
      .waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.goto('/deliveries?state=skipped')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  })

  test('are listed by their next attempt, and only those that wait for a time', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto('/deliveries?state=succeeded')
    await page.getByRole('group', { name: 'Order' }).getByRole('link', { name: 'Next attempt' }).click()
    await page.waitForURL('**/deliveries?sort=next_attempt')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(5)
    const due = await rows
      .locator('td:nth-child(6) time')
      .evaluateAll((times) => times.map((time) => Date.parse((time as HTMLTimeElement).dateTime)))
    expect(due).toHaveLength(5)
    expect(due).toEqual(due.toSorted((one, other) => one - other))
    expect(await findBarriers(page)).toEqual([])
    // What has ended has no next attempt: the order is given up with the filter.
    await page.getByRole('group', { name: 'State' }).getByRole('link', { name: 'Skipped' }).click()
    await page.waitForURL('**/deliveries?state=skipped')
  })

  test('that were attempted last are on the page of their endpoint', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto('/endpoints/crm')
    const card = page.getByRole('region', { name: 'Last attempts' })
    await card.getByText('first attempt').waitFor()
    expect(await card.getByRole('listitem').count()).toBe(1)
    expect(await findBarriers(page)).toEqual([])
    await card.getByText('first attempt').click()
    await page.waitForURL('**/deliveries/dlv_*')
  })

  test('links in rows open in the same tab, carry the time range and leave other clicks to the browser', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto(`/events?range=24h`)
    const link = page.getByRole('link', { name: eventId })
    expect(await link.getAttribute('href')).toBe(`/events/${eventId}?range=24h`)
    const other = page.context().waitForEvent('page')
    await link.click({ modifiers: ['ControlOrMeta'] })
    expect((await other).url()).toContain(`/events/${eventId}?range=24h`)
    await link.click()
    await page.waitForURL(`**/events/${eventId}?range=24h`)
  })

  test('say what keeps them from being sent, in place of a time', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto('/deliveries?state=pending&endpoint=crm')
    const first = page.locator('tbody tr').filter({ hasText: 'connect' }).first()
    await first.getByText(/^in 1?\d min/).waitFor()
    await rig.api.call('POST', '/v1/endpoints/crm/pause', { body: { reason: 'moving house' } })
    await first.getByText('paused', { exact: true }).waitFor()
    await page.goto(`/events/${eventId}`)
    await page.getByText(/^1 attempt, paused/).waitFor()
    await rig.api.call('POST', '/v1/endpoints/crm/resume', { body: {} })
    await page.getByText(/^1 attempt, next in/).waitFor()
  })
})
