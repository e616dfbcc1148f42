import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBarriers } from '../support/browser/accessibility.ts'
import { browserPath, openBrowser, openPage } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'

/** Users keep these in their bookmarks. */
const pathsOfLists = [
  ['events', 'Events'],
  ['deliveries', 'Deliveries'],
  ['endpoints', 'Endpoints'],
  ['routes', 'Routes'],
  ['event-types', 'Event types'],
  ['dead-letters', 'Dead letters'],
  ['operations', 'Operations'],
  ['replays', 'Replays'],
  ['jobs', 'Jobs'],
  ['runs', 'Runs'],
  ['queues', 'Queues'],
  ['workers', 'Workers'],
  ['schedules', 'Schedules'],
  ['settings', 'Settings'],
  ['sources', 'Sources'],
  ['alerts', 'Alerts'],
  ['system', 'System'],
  ['broker', 'Broker'],
  ['audit', 'Audit'],
  ['api-keys', 'API keys'],
] as const

if (browserPath === null) {
  console.warn(
    'Skipped the tests of the dashboard in a browser: no Chromium here (scripts/install-browser.sh installs it).',
  )
}

describe.skipIf(browserPath === null)('the frame of the dashboard', () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    const created = await rig.api.call('POST', '/v1/endpoints', {
      body: {
        name: 'crm',
        config: { url: 'http://127.0.0.1:9009/hooks' },
        tags: ['sales'],
        preset: 'development',
      },
    })
    expect(created.status).toBe(201)
    await rig.api.call('POST', '/v1/endpoints/crm/disable', { body: { reason: 'moved' } })
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('signed out, a link leads to the form and back to what it names', async () => {
    const { context } = await rig.browser()
    const { page } = await openPage(context)
    await page.goto('/endpoints/crm?tab=settings')
    await page.getByLabel('API key').fill(rig.api.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor()
    expect(new URL(page.url()).search).toBe('?tab=settings')
    expect(await page.title()).toMatch(/^crm · Endpoints/)
  })

  test('the overview says what needs action, and leads there; Back works', async () => {
    const page = await rig.signedIn('admin')
    await page.getByRole('heading', { name: 'Needs action' }).waitFor()
    await page.getByText('moved').first().waitFor()
    expect(await page.title()).toMatch(/^\(1\) Overview/)
    await page.getByRole('link', { name: 'Open endpoint' }).click()
    await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  test('keys go to pages, open help and the palette, and act in no field', async () => {
    const page = await rig.signedIn('viewer')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.type('ge')
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('go')
    expect(await page.getByLabel('Name has').inputValue()).toBe('go')
    await page.getByRole('heading', { name: 'No endpoint matches' }).waitFor()
    await page.getByRole('link', { name: 'Clear filter' }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    const input = page.getByRole('combobox')
    await input.fill('crm')
    await page.getByRole('option', { name: /crm/ }).first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor()
  })

  test('the time range is offered where it changes what is shown, and stays in the address', async () => {
    const page = await rig.signedIn('viewer')
    const ranges = page.getByRole('group', { name: 'Time range' })
    await ranges.getByRole('link', { name: '1 h', exact: true }).click()
    await page
      .getByText(/ in 1h$/)
      .first()
      .waitFor()
    expect(new URL(page.url()).search).toBe('?range=1h')
    await page.goto('/endpoints/crm')
    await ranges.waitFor()
    await page.goto('/deliveries')
    await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
    expect(await ranges.count()).toBe(0)
  })

  test('a phone has the time range, the time zone and the colours behind More', async () => {
    const page = await rig.signedIn('viewer', { isPhone: true })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'UTC' }).click()
    await page.getByRole('button', { name: 'Dark' }).click()
    await page.getByRole('link', { name: '7 d', exact: true }).click()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'More' }).click()
    await page
      .getByText(/ in 7d$/)
      .first()
      .waitFor()
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
  })

  test('a change elsewhere shows without a reload', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto('/endpoints/crm')
    await page.getByText('crm is disabled: moved').waitFor()
    await rig.api.call('POST', '/v1/endpoints/crm/enable', { body: {} })
    await page.getByText('crm is disabled: moved').waitFor({ state: 'detached' })
    await rig.api.call('POST', '/v1/endpoints/crm/disable', { body: { reason: 'moved' } })
    await page.getByText('crm is disabled: moved').waitFor()
  })

  test('a viewer is offered nothing that writes, a publisher nothing at all', async () => {
    const viewer = await rig.signedIn('viewer')
    await viewer.goto('/endpoints/crm')
    await viewer.getByText('crm is disabled').waitFor()
    expect(await viewer.getByRole('button', { name: /…$/ }).count()).toBe(0)
    const publisher = await rig.signedIn('publisher')
    await publisher.getByRole('heading', { name: 'The dashboard needs the role viewer' }).waitFor()
  })

  test('it works under a prefix of a reverse proxy that strips it', async () => {
    const target = new URL(rig.url)
    const proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? '').replace(/^\/holdfast(?=\/)/, '')
      const { method, headers } = incoming
      const forwarded = send(
        { host: target.hostname, port: target.port, method, path, headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(outgoing)
        },
      )
      forwarded.on('error', () => outgoing.destroy())
      outgoing.on('close', () => forwarded.destroy())
      incoming.pipe(forwarded)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const browser = await openBrowser({ baseUrl })
    try {
      const { page } = await openPage(browser.context)
      await page.goto('/holdfast/endpoints/crm')
      await page.getByLabel('API key').fill(rig.api.adminKey)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor()
      await page.getByRole('link', { name: 'Overview' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/holdfast/')
      await page.reload()
      await page.getByRole('heading', { name: 'Needs action' }).waitFor()
      for (const [path, heading] of pathsOfLists) {
        await page.goto(`/holdfast/${path}`)
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
      }
    } finally {
      await browser.close()
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    }
  }, 120_000)
})
