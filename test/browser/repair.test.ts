import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { until } from '../support/engine/until.ts'
import { HttpReceiver } from '../support/receivers/http-receiver.ts'

describe.skipIf(browserPath === null)('a person with the role to configure', () => {
  let rig: DashboardRig
  let receiver: HttpReceiver

  const get = async (path: string) => (await rig.api.call('GET', path)).body
  const post = async (path: string, body: object) => {
    const { status, text } = await rig.api.call('POST', path, { body })
    expect([path, status < 400, text]).toEqual([path, true, text])
  }

  beforeAll(async () => {
    rig = await DashboardRig.create()
    receiver = await HttpReceiver.start()
    await post('/v1/endpoints', { name: 'crm', config: { url: receiver.url } })
    await post('/v1/routes', {
      name: 'orders-to-crm',
      eventType: 'order.*',
      endpoint: 'crm',
      transform: { type: 'template', template: { id: '{{ id }}' } },
    })
    for (let id = 1; id <= 5; id++)
      await post('/v1/events', { type: 'order.created', payload: { id, total: id } })
    await receiver.ledger.waitFor(5)
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
    await receiver.stop()
  })

  test('changes settings of an endpoint: a problem shows, a diff is reviewed, the reason is kept', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/endpoints/crm?tab=settings')
    const threshold = page.getByLabel('Circuit opens after')
    await threshold.fill('0')
    await page.getByLabel('Timeout').fill('20000')
    await page.getByText('Enter 1 to 1,000.').waitFor()
    await page.getByRole('button', { name: 'Review changes' }).click()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await threshold.fill('10')
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('heading', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Review changes' }).click()
    const changes = page.getByRole('region', { name: 'Changes' })
    await changes.getByText('+ 20000').waitFor()
    expect(await changes.textContent()).toContain('- 10000')
    await page.getByLabel(/Reason/).fill('Slow after its migration.')
    await page.getByRole('button', { name: 'Save 2 changes' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await get('/v1/endpoints/crm')).toMatchObject({
      circuit: { threshold: 10 },
      config: { timeoutMs: 20_000 },
    })
    const { data } = await get('/v1/audit?subject=endpoint:crm&action=endpoint.updated')
    expect(data[0].detail.reason).toBe('Slow after its migration.')
  })

  test('pauses with a reason, and takes it back', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/endpoints/crm')
    await page.getByRole('button', { name: 'Pause…' }).click()
    await page.getByLabel(/Reason/).fill('Stock count.')
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('crm is paused: “Stock count.”').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('crm is paused').waitFor({ state: 'detached' })
    const { data } = await get('/v1/audit?subject=endpoint:crm&action=endpoint.active')
    expect(data[0].detail.reason).toBe('Undone in the dashboard.')
  })

  test('creates an endpoint step by step, and sends it a test', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/endpoints')
    await page.getByRole('link', { name: 'New endpoint' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Bad name')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText("can't be used here").waitFor()
    await page.getByLabel('Name', { exact: true }).fill('erp')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('URL').fill(receiver.url)
    await page.getByLabel('Authentication').selectOption('bearer')
    await page.getByLabel('Token').fill('s3cret')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('Event types').fill('invoice.*')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('Preset').selectOption('development')
    await page.getByRole('button', { name: 'Next' }).click()
    expect(await page.textContent('main')).not.toContain('s3cret')
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await page.getByText('erp is created.').waitFor()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('A delivery would have succeeded').waitFor()
    const erp = await get('/v1/endpoints/erp')
    expect(erp).toMatchObject({ preset: 'development', eventTypes: ['invoice.*'], transport: 'http' })
    expect(receiver.ledger.requests.at(-1)?.headers['authorization']).toBe('Bearer s3cret')
  })

  test('writes a route against real events, and switches it off and on', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/routes/orders-to-crm')
    await page.getByText('5 of the last 5 events match').waitFor()
    await page.getByLabel('Filter').fill('$.total > 2')
    await page.getByText('3 of the last 5 events match').waitFor()
    await page
      .getByLabel('Transform')
      .fill(JSON.stringify({ type: 'template', template: { id: '{{ id }}', vat: '{{ vat }}' } }))
    await page.getByText(/3 of the 3 events that match can't be rendered/).waitFor()
    await page.getByRole('button', { name: 'left out' }).click()
    await page.getByText('All 3 that were tried can be rendered.').waitFor()
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    await page.getByRole('region', { name: 'Changes' }).waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    const { data } = await get('/v1/events?eventType=order.created&limit=5')
    await page.getByLabel('Event by id').fill(data[4].id)
    await page.getByRole('button', { name: 'Use', exact: true }).click()
    const payload = page.getByRole('region', { name: 'Event payload' })
    await expect.poll(() => payload.textContent(), { timeout: 20_000 }).toMatch(/"?id"?: ?1\b/)
    await page.getByRole('button', { name: 'Disable…' }).click()
    await page.getByRole('button', { name: 'Disable', exact: true }).click()
    await page.getByRole('button', { name: 'Enable…' }).waitFor()
    expect((await get('/v1/routes/orders-to-crm')).enabled).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Disable…' }).waitFor()
  })

  test('declares an event type, with a schema that recent events are checked against', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/event-types')
    await page.getByRole('link', { name: 'order.created' }).click()
    await page.getByLabel('Schema').fill(JSON.stringify({ type: 'object', required: ['customer'] }))
    await page.getByText('5 of the last 5 events would be refused').waitFor()
    await page.getByLabel('Schema').fill(JSON.stringify({ type: 'object', required: ['id'] }))
    await page.getByText('All of the last 5 events are right').waitFor()
    await page.getByRole('button', { name: 'Declare…' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await get('/v1/event-types/order.created')).schema).toEqual({ type: 'object', required: ['id'] })
    await page.getByRole('button', { name: 'Delete…' }).click()
    const button = page.getByRole('button', { name: 'Delete', exact: true })
    expect(await button.isDisabled()).toBe(true)
    await page.getByLabel(/Type order.created to confirm/).fill('order.created')
    await button.click()
    await page.waitForURL(/\/event-types$/)
  })

  test('replays a range after a dry run, and sees the outcome', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/replays')
    await page.getByRole('button', { name: 'Replay a range…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Endpoint (empty: all)').fill('crm')
    await dialog.getByLabel(/per second/).fill('')
    const start = dialog.getByRole('button', { name: /^Replay/ })
    expect(await start.isDisabled()).toBe(true)
    const later = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)
    await dialog.getByLabel(/^To, /).fill(later)
    await dialog.getByRole('button', { name: 'Dry run' }).click()
    await dialog.getByRole('button', { name: 'Replay 5' }).click()
    await page.getByRole('heading', { level: 1, name: 'Replay events' }).waitFor()
    const outcome = page.getByRole('region', { name: 'Outcome' })
    await until(
      'five to be delivered again',
      () => outcome.textContent(),
      (text) => /Delivered5/.test(text ?? ''),
      20_000,
    )
    await page.goto('/replays')
    await page.getByRole('link', { name: 'Replay events' }).waitFor()
  })
})
