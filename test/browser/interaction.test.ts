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

  test('the keys [ and ] go through the list, f to an empty filter', async () => {
    const ids: string[] = []
    for (let order = 1; order <= 3; order++) {
      const { body } = await rig.api.call('POST', '/v1/events', {
        body: { type: 'order.created', payload: { order } },
      })
      ids.unshift(body.id as string)
    }
    const page = await rig.signedIn('viewer')
    await page.goto('/events?type=order.created')
    await page.getByRole('link', { name: ids[1] ?? '' }).click()
    await page.waitForURL(`**/events/${ids[1]}`)
    await page.keyboard.press(']')
    await page.waitForURL(`**/events/${ids[2]}`)
    await page.keyboard.press('[')
    await page.keyboard.press('[')
    await page.waitForURL(`**/events/${ids[0]}`)
    await page.goto('/events?type=order.created')
    await page.getByRole('link', { name: ids[0] ?? '' }).waitFor()
    await page.keyboard.press('f')
    await page.keyboard.type('key-1')
    expect(await page.getByLabel('Type').inputValue()).toBe('order.created')
    expect(await page.getByLabel('Event id').inputValue()).toBe('key-1')
  })

  test('new rows wait while the pointer is over the list', async () => {
    const publish = () => rig.api.call('POST', '/v1/events', { body: { type: 'hello.world', payload: {} } })
    await publish()
    const page = await rig.signedIn('viewer')
    await page.goto('/events?type=hello.world')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    await rows.first().hover()
    const before = await rows.first().innerText()
    await publish()
    await publish()
    await page.keyboard.press('u')
    await page.getByRole('button', { name: '2 new' }).waitFor()
    expect(await rows.first().innerText()).toBe(before)
    await page.getByRole('button', { name: '2 new' }).click()
    await expect.poll(() => rows.count()).toBe(3)
  })

  test('a sign-in link also works in a tab that shows the sign-in page', async () => {
    const { context } = await rig.browser()
    const page = await context.newPage()
    await page.goto('/')
    await page.getByLabel('API key').waitFor()
    await page.goto(`/sign-in#${await rig.api.authenticator.createSignInToken()}`)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor({ timeout: 10_000 })
  })

  test('a form that was not sent is still there after signing in again', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/jobs/nightly-report')
    const input = page.getByLabel(/Input, as JSON/)
    await page.getByRole('button', { name: 'Trigger…' }).click()
    await input.fill('{"month": "2030-01"}')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/sign-in/)
    await page.getByLabel('API key').fill(rig.api.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'))
    await page.goto('/jobs/nightly-report')
    await page.getByRole('button', { name: 'Trigger…' }).click()
    expect(await input.inputValue()).toBe('{"month": "2030-01"}')
    await page.getByRole('dialog').getByRole('button', { name: 'Trigger', exact: true }).click()
    await page.waitForURL(/\/runs\//)
    await page.goto('/jobs/nightly-report')
    await page.getByRole('button', { name: 'Trigger…' }).click()
    expect(await input.inputValue()).toBe('')
  })

  test('three tabs share one stream, and another takes over when its tab is closed', async () => {
    const { context } = await rig.browser()
    const first = await context.newPage()
    const streams: string[] = []
    context.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/v1/stream')) streams.push(request.url())
    })
    await first.goto('/queues')
    await first.getByLabel('API key').fill(rig.api.adminKey)
    await first.getByRole('button', { name: 'Sign in' }).click()
    await first.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
    await expect.poll(() => streams.length).toBe(1)
    const others = [await context.newPage(), await context.newPage()]
    for (const page of others) {
      await page.goto('/queues')
      await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
      await page.getByRole('button', { name: /^Live/ }).waitFor()
    }
    expect(streams.length).toBe(1)
    await first.close()
    await expect.poll(() => streams.length).toBe(2)
  })

  test('a button starts the demo where it is offered, and another stops it', async () => {
    const viewer = await rig.signedIn('viewer')
    await viewer.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const page = await rig.signedIn('admin')
    await page.getByText('Publish your first event').first().waitFor()
    await page.getByRole('button', { name: 'Start the demo' }).click()
    await page.getByText('The demo is running.').waitFor()
    await page.getByRole('button', { name: 'Stop the demo' }).click()
    await page.getByRole('button', { name: 'Start the demo' }).waitFor()
    expect(await viewer.getByRole('button', { name: /the demo/ }).count()).toBe(0)
    const { text } = await rig.api.call('GET', '/v1/audit?limit=5')
    expect(text).toMatch(/demo\.stopped[^]*demo\.started/)
  })
})
