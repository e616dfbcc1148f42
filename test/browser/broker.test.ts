import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillBroker } from '../support/amqp/fill-broker.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'

describe.skipIf(browserPath === null)('the page of the broker', () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    await rig.api.call('POST', '/v1/jobs', { body: { name: 'print' } })
  })

  afterAll(async () => {
    expect(rig.foreignRequests).toEqual([])
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('teaches how to use one where there is none, and shows it when there is', async () => {
    const page = await rig.signedIn('viewer')
    await page.goto('/system')
    await page.getByRole('main').getByRole('link', { name: 'Broker' }).click()
    await page.getByRole('heading', { name: 'No node uses a broker' }).waitFor()
    await page.getByText('HOLDFAST_AMQP_URL=amqp://user:password@rabbit.example holdfast serve').waitFor()

    const run = await rig.api.call('POST', '/v1/jobs/print/trigger', { body: {} })
    const letter = await fillBroker(rig.api.database, run.body.id)
    await page.getByText('The queue "holdfast.queue.mail" exists with another x-queue-type').waitFor()
    await page.getByText('rabbitmqctl delete_queue holdfast.queue.mail').waitFor()
    const queues = page.getByRole('region', { name: 'Queues' })
    await queues.getByRole('row', { name: /holdfast\.worker\.press-7.*Retired/ }).waitFor()
    await page.getByText('25 handled since the nodes started').waitFor()

    await page.goto(`/dead-letters/${letter}`)
    await page.getByText('No worker took it in time: Worker queue TTL expired').waitFor()
    const history = page.getByRole('region', { name: 'History on the broker' })
    await history.getByRole('row', { name: /Expired.*holdfast\.worker\.press-7/ }).waitFor()
  })

  test('an operation lists the dead letters that it skipped, and why', async () => {
    const run = await rig.api.call('POST', '/v1/jobs/print/trigger', { body: {} })
    await rig.api.database.pool.query(
      `select holdfast_internal.fail_runs(array[holdfast.parse_id('run', $1)], 'permanent', 'error', 'broken', 0)`,
      [run.body.id],
    )
    const [letter] = (await rig.api.call('GET', '/v1/dead-letters?state=open&limit=1')).body.data
    const filter = { ids: [letter.id] }
    const { asOf } = (
      await rig.api.call('POST', '/v1/operations/preview', { body: { kind: 'redrive', filter } })
    ).body
    await rig.api.call('POST', `/v1/dead-letters/${letter.id}/resolve`, { body: { note: 'By hand.' } })
    const operation = await rig.api.call('POST', '/v1/operations', {
      body: { kind: 'redrive', filter, asOf },
    })
    const page = await rig.signedIn('viewer')
    await page.goto(`/operations/${operation.body.id}`)
    const skipped = page.getByRole('region', { name: 'Skipped dead letters' })
    await skipped.getByRole('row', { name: /It was resolved meanwhile by key:/ }).waitFor()
    await skipped.getByRole('link', { name: letter.id }).click()
    await page.getByText('By hand.').waitFor()
  })

  test('a mistyped address is the page that says so, with the navigation', async () => {
    const page = await rig.signedIn('viewer')
    const answer = await page.goto('/evnts')
    expect(answer?.status()).toBe(404)
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
    await page.getByRole('link', { name: 'Open the overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
})
