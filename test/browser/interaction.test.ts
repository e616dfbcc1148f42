import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBarriers } from '../support/browser/accessibility.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'

describe.skipIf(browserPath === null)('what a user did', () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    const post = async (path: string, body: object) => {
      const { status, text } = await rig.api.call('POST', path, { body })
      expect([path, status < 400, text]).toEqual([path, true, text])
    }
    await post('/v1/jobs', { name: 'nightly-report', queue: 'reports' })
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  const queueState = async () => (await rig.api.call('GET', '/v1/queues/reports')).body.state as string

  test('can be undone for a while, by the inverse call; keys go on working meanwhile', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/queues')
    const pause = page.getByRole('row', { name: /reports/ }).getByRole('button', { name: /Pause/ })
    await pause.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    const toast = page.getByRole('region', { name: 'Just done' })
    await toast.getByText('Paused reports.').waitFor()
    expect(await queueState()).toBe('paused')
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.type('gw')
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
    await toast.getByRole('button', { name: 'Undo' }).click()
    await toast.getByText('Paused reports.').waitFor({ state: 'detached' })
    expect(await queueState()).toBe('active')
    const { body } = await rig.api.call('GET', '/v1/audit?limit=1')
    expect(body.data[0].action).toBe('queue.active')
  })

  test('says why it could not be undone', async () => {
    const page = await rig.signedIn('operator')
    await rig.api.call('POST', '/v1/queues/reports/resume', { body: {} })
    await page.goto('/queues')
    await page
      .getByRole('row', { name: /reports/ })
      .getByRole('button', { name: /Pause/ })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    const toast = page.getByRole('region', { name: 'Just done' })
    await toast.getByText('Paused reports.').waitFor()
    await page.route('**/v1/queues/reports/resume', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'database_unavailable', detail: 'The database is away.' }),
      }),
    )
    await toast.getByRole('button', { name: 'Undo' }).click()
    await toast.getByText('Not undone: The database is away.').waitFor()
    await page.unroute('**/v1/queues/reports/resume')
    await toast.getByRole('button', { name: 'Undo' }).click()
    await toast.getByText('Not undone').waitFor({ state: 'detached' })
    expect(await queueState()).toBe('active')
  })
})
