import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pinSettings } from '../../src/storage/settings.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'

describe.skipIf(browserPath === null)('a form', () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    const post = async (path: string, body: object) => {
      const { status, text } = await rig.api.call('POST', path, { body })
      expect([path, status < 400, text]).toEqual([path, true, text])
    }
    await post('/v1/endpoints', { name: 'crm', config: { url: 'https://crm.example.com/hooks' } })
    await post('/v1/routes', { name: 'to-crm', eventType: 'order.*', endpoint: 'crm' })
    await post('/v1/jobs', { name: 'report', queue: 'reports' })
  })

  afterAll(async () => {
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  const get = async (path: string) => (await rig.api.call('GET', path)).body
  const setting = async (name: string) =>
    (await get('/v1/settings')).data.find((one: { name: string }) => one.name === name)
  const reasonOf = async (action: string) =>
    (await get(`/v1/audit?limit=1&action=${action}`)).data[0].detail.reason

  test('of settings shows where a value comes from, refuses what is out of range, and saves by a diff', async () => {
    const { rows } = await rig.api.database.pool.query<{ incarnation: number }>(
      'select incarnation from holdfast_internal.nodes limit 1',
    )
    await pinSettings(rig.api.holdfast.database, rows[0]?.incarnation ?? 0, [
      {
        name: 'max_payload_bytes',
        value: 500_000,
        source: 'the environment variable HOLDFAST_MAX_PAYLOAD_BYTES',
      },
    ])
    const page = await rig.signedIn('admin')
    await page.goto('/settings')
    const pinned = page.locator('[data-setting=max_payload_bytes]')
    await pinned.getByText(/Pinned by the environment variable HOLDFAST_MAX_PAYLOAD_BYTES on node/).waitFor()
    expect(await pinned.getByLabel('Largest payload').isEditable()).toBe(false)
    const days = page.getByLabel('Settled dead letters', { exact: true })
    await days.fill('0')
    await page.getByLabel('Unsettled dead letters').focus()
    await page.getByText('Enter 1 to 36,500.').waitFor()
    await days.fill('90')
    await page.locator('[data-setting=defaults]').getByLabel('Circuit opens after').fill('9')
    await page.keyboard.press('Control+s')
    const changes = page.getByRole('region', { name: 'Changes' })
    await changes.getByText('+ 90').waitFor()
    await page.getByLabel(/Reason/).fill('Auditors ask for a quarter.')
    await page.getByRole('button', { name: 'Save 2 changes' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await setting('dead_letter_retention_days')).toMatchObject({ value: 90, isDefault: false })
    expect((await setting('defaults')).value).toEqual({ circuit: { threshold: 9 } })
    expect(await reasonOf('setting.updated')).toBe('Auditors ask for a quarter.')
    await page
      .locator('[data-setting=dead_letter_retention_days]')
      .getByRole('button', { name: /Back to the default/ })
      .click()
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await setting('dead_letter_retention_days')).toMatchObject({ value: 30, isDefault: true })
  })

  test('of settings is for administrators; others look', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/settings')
    expect(await page.getByLabel('Rejecting after').isEditable()).toBe(false)
  })

  test.each([
    ['/endpoints/crm?tab=settings', 'Contact for incidents', 'crm@example.com'],
    ['/routes/to-crm', 'Filter', '$.total > 7'],
    ['/event-types/order.placed', 'Description', 'An order.'],
    ['/settings', 'Rejecting after', '44'],
  ])(
    'at %s is as it was after a reload and after another page, until it is discarded',
    async (path, label, text) => {
      const page = await rig.signedIn('admin')
      page.on('dialog', (dialog) => void dialog.accept())
      await page.goto(path)
      const field = page.getByLabel(label, { exact: true })
      const before = await field.inputValue()
      await field.fill(text)
      await page.reload()
      await page.getByText('kept from before').waitFor()
      expect(await field.inputValue()).toBe(text)
      await page.getByRole('link', { name: 'Workers' }).click()
      await page.getByRole('button', { name: 'Leave, keep the draft' }).click()
      await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
      await page.goBack()
      await page.getByText('kept from before').waitFor()
      expect(await field.inputValue()).toBe(text)
      await page.getByRole('button', { name: 'Discard changes' }).click()
      expect(await field.inputValue()).toBe(before)
      await page.reload()
      await field.waitFor()
      expect(await field.inputValue()).toBe(before)
    },
  )

  test('never keeps a secret in the browser', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/endpoints/+new')
    await page.getByLabel('Name').fill('secretive')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('URL').fill('https://example.com/?token=s3cret')
    await page.getByLabel('URL').blur()
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage)]),
    )
    expect(kept).toContain('secretive')
    expect(kept).not.toContain('s3cret')
  })

  test('of an alert rule creates, changes and deletes it, and a role without the right is offered none', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/alerts')
    await page.getByRole('button', { name: 'New rule…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('half-fails')
    await dialog.getByLabel('Watches').selectOption('failure_rate')
    await dialog.getByLabel('Fires above').fill('2')
    await dialog.getByLabel('Name').focus()
    await dialog.getByText('Enter 0 to 1.').waitFor()
    await dialog.getByLabel('Fires above').fill('0.5')
    await dialog.getByRole('button', { name: 'Create rule' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await get('/v1/alert-rules/half-fails')).toMatchObject({ kind: 'failure_rate', threshold: 0.5 })
    await page.getByRole('button', { name: 'Edit… half-fails' }).click()
    await dialog.getByLabel('Severity').selectOption('critical')
    await dialog.getByRole('region', { name: 'Changes' }).getByText('+ critical').waitFor()
    await dialog.getByLabel(/Reason/).fill('It woke nobody.')
    await dialog.getByRole('button', { name: 'Save rule' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await get('/v1/alert-rules/half-fails')).toMatchObject({ severity: 'critical', threshold: 0.5 })
    expect(await reasonOf('alert_rule.written')).toBe('It woke nobody.')
    const operator = await rig.signedIn('operator')
    await operator.goto('/alerts')
    await operator.getByRole('button', { name: 'Silence… half-fails' }).click()
    await operator.getByRole('dialog').getByRole('button', { name: 'Silence', exact: true }).click()
    await operator.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await get('/v1/alert-rules/half-fails')).silencedUntil).not.toBeNull()
    expect(await operator.getByRole('button', { name: /^(New|Edit|Delete)/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Delete… half-fails' }).click()
    await dialog.getByLabel(/Type half-fails/).fill('half-fails')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await rig.api.call('GET', '/v1/alert-rules/half-fails')).status).toBe(404)
  })

  test('of a channel creates it, shows its secret once, and a test is sent to it', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/alerts')
    await page.getByRole('button', { name: 'New channel…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('pager')
    await dialog.getByLabel('URL').fill('https://pager.example.com/hooks')
    await dialog.getByRole('button', { name: 'Create channel' }).click()
    await dialog.getByText(/^whsec_/).waitFor()
    await dialog.getByRole('button', { name: 'I have it' }).click()
    await page.getByRole('button', { name: 'Test pager' }).click()
    await page.getByText('Sent a test notice to pager.').waitFor()
    await page.getByRole('button', { name: 'Disable… pager' }).click()
    await dialog.getByRole('button', { name: 'Disable', exact: true }).click()
    await page.getByRole('button', { name: 'Enable… pager' }).waitFor()
  })

  test("of a queue's limits checks, shows what changes and keeps the reason", async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/queues')
    await page.getByRole('button', { name: 'Limits… reports' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Runs at once').fill('0')
    await dialog.getByLabel('Starts at most').focus()
    await dialog.getByText('Enter 1 to 100,000.').waitFor()
    await dialog.getByLabel('Runs at once').fill('5')
    await dialog.getByLabel('Starts at most').fill('2.5')
    await dialog.getByLabel(/Reason/).fill('The printer is slow.')
    await dialog.getByRole('button', { name: 'Save limits' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await get('/v1/queues/reports')).toMatchObject({ concurrency: 5, ratePerSecond: 2.5 })
    expect(await reasonOf('queue.updated')).toBe('The printer is slow.')
  })

  test('of filters is the address of the list: a link brings the same runs', async () => {
    const trigger = async (body: object) =>
      (await rig.api.call('POST', '/v1/jobs/report/trigger', { body })).body.id as string
    const wanted = await trigger({ correlationId: 'order-17', tags: ['nightly'] })
    const other = await trigger({ correlationId: 'order-18' })
    const page = await rig.signedIn('viewer')
    await page.goto('/runs?tag=nightly&correlationId=order-17&from=2020-01-01T00:00:00Z')
    await page.getByRole('link', { name: wanted }).waitFor()
    expect(await page.getByRole('link', { name: other }).count()).toBe(0)
    expect(await page.getByLabel('Tag').inputValue()).toBe('nightly')
    await page.getByLabel('Correlation id').fill('order-18')
    await page.waitForURL(/correlationId=order-18/)
    await page.getByLabel('Tag').fill('')
    await page.getByRole('link', { name: other }).waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: wanted }).waitFor()
  })
})
