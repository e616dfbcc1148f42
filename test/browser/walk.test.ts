import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { until } from '../support/engine/until.ts'
import { answer } from '../support/receivers/behaviours.ts'
import { HttpReceiver } from '../support/receivers/http-receiver.ts'

const letters = 520
const redriven = 500

describe.skipIf(browserPath === null)('an operator at work', () => {
  let rig: DashboardRig
  let receiver: HttpReceiver

  beforeAll(async () => {
    rig = await DashboardRig.create()
    receiver = await HttpReceiver.start()
    const post = async (path: string, body: object) => {
      const { status, text } = await rig.api.call('POST', path, { body })
      expect([path, status < 400, text]).toEqual([path, true, text])
    }
    await post('/v1/endpoints', { name: 'erp', config: { url: receiver.url }, preset: 'development' })
    await post('/v1/routes', {
      name: 'invoices-to-erp',
      eventType: 'invoice.*',
      endpoint: 'erp',
      transform: { type: 'template', template: { ref: '{{ ref }}', vat: '{{ customer.vatId }}' } },
    })
    const events = Array.from({ length: letters }, (_, k) => ({
      type: k < redriven ? 'invoice.created' : 'invoice.test',
      payload: { ref: `INV-${k}`, customer: { name: 'Ada Brandt' } },
    }))
    await post('/v1/events/batch', { events })
    await until(
      'all of them to be dead letters',
      async () => {
        const { body } = await rig.api.call('GET', '/v1/endpoints/erp/health')
        // It was stopped, because everything failed: this test wants the rest to fail, too.
        if (body.state === 'rejecting') await post('/v1/endpoints/erp/resume', {})
        return body.deadLetters
      },
      (count) => count === letters,
      50_000,
    )
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
    await receiver.stop()
  })

  test('finds the group, fixes the template, redrives 500 with progress, and resolves the rest with a note', async () => {
    const page = await rig.signedIn('admin')
    await page.getByRole('link', { name: 'Open dead letters' }).first().click()
    await page
      .getByRole('link', { name: /customer\.vatId/ })
      .first()
      .click()
    await page.getByText('It began').waitFor()
    await page.getByRole('link', { name: 'Open route' }).click()
    const editor = page.getByLabel('Transform')
    await page.getByText('Request cannot be rendered').waitFor()
    await editor.fill(
      JSON.stringify({
        type: 'template',
        template: { ref: '{{ ref }}', vat: '{{ customer.vatId ?? null }}' },
      }),
    )
    await page.getByText('Request can be rendered').waitFor()
    await page.getByRole('button', { name: 'Review changes…' }).click()
    await page.getByRole('region', { name: 'Changes' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.goto('/dead-letters?view=letters&endpoint=erp&eventType=invoice.created')
    await page.getByRole('button', { name: 'Redrive…' }).click()
    await page.getByLabel(/per second/).fill('')
    await page.getByRole('button', { name: `Redrive ${redriven}` }).click()
    const tray = page.getByRole('region', { name: 'Operations under way' })
    await tray.getByText(`${redriven} of ${redriven}`).waitFor()
    await receiver.ledger.waitFor(redriven)
    await page.getByRole('heading', { name: 'No dead letter matches' }).waitFor()

    await page.goto('/dead-letters?view=letters&endpoint=erp')
    await page.getByRole('button', { name: 'Resolve…' }).click()
    await page.getByLabel(/Reason/).fill('Tests of the shop.')
    await page.getByRole('button', { name: `Resolve ${letters - redriven}` }).click()
    await until(
      'the rest to be resolved',
      async () => (await rig.api.call('GET', '/v1/endpoints/erp/health')).body.deadLetters,
      (count) => count === 0,
    )
    const { body } = await rig.api.call('GET', '/v1/dead-letters?state=resolved&limit=1')
    expect(body.data[0].note).toBe('Tests of the shop.')
  }, 120_000)

  test('discards only when the count is typed in', async () => {
    receiver.behave(answer(422))
    await rig.api.call('POST', '/v1/endpoints/erp/send', { body: { payload: { ref: 'one' } } })
    await until(
      'a dead letter',
      async () => (await rig.api.call('GET', '/v1/endpoints/erp/health')).body.deadLetters,
      (count) => count === 1,
    )
    const page = await rig.signedIn('operator')
    await page.goto('/dead-letters?view=letters&endpoint=erp')
    await page.getByRole('button', { name: 'Discard…' }).click()
    const button = page.getByRole('button', { name: 'Discard 1', exact: true })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await page.getByLabel(/Reason/).fill('Made up.')
    expect(await button.isDisabled()).toBe(true)
    await page.getByLabel(/Type 1 to confirm/).fill('1')
    await button.click()
    await page.getByRole('heading', { name: /No (open )?dead letter/ }).waitFor()
  })

  test('trips a circuit, sees why a delivery waits, and resets it', async () => {
    receiver.behave(answer(503))
    for (let k = 0; k < 4; k++) {
      await rig.api.call('POST', '/v1/endpoints/erp/send', { body: { payload: { k } } })
    }
    const page = await rig.signedIn('operator')
    await page.goto('/endpoints/erp')
    await page.getByText('The circuit is').waitFor()
    const { body } = await rig.api.call('GET', '/v1/deliveries?endpoint=erp&state=pending&limit=1')
    await page.goto(`/deliveries/${body.data[0].id}`)
    await page.locator('[data-why=circuit_open]').waitFor()
    await page.goto('/endpoints/erp')
    receiver.behave(answer(200))
    await page.getByRole('button', { name: 'Reset circuit…' }).click()
    await page.getByRole('button', { name: 'Reset circuit', exact: true }).click()
    await page.getByText('The circuit is').waitFor({ state: 'detached' })
    await until(
      'what waited to be delivered',
      async () => (await rig.api.call('GET', '/v1/endpoints/erp/health')).body.pending,
      (count) => count === 0,
      30_000,
    )
  })

  test('a revoked key ends the session: the page leads to the form', async () => {
    const created = await rig.api.call('POST', '/v1/api-keys', { body: { name: 'leaver', role: 'viewer' } })
    const { context } = await rig.browser()
    const page = await context.newPage()
    await page.goto('/endpoints')
    await page.getByLabel('API key').fill(created.body.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
    await rig.api.call('DELETE', `/v1/api-keys/${created.body.id}`)
    await page.waitForURL(/\/sign-in\?to=endpoints/, { timeout: 30_000 })
  })
})
