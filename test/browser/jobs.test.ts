import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/job.ts'
import { JobWorker } from '../../src/jobs/worker.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { until } from '../support/engine/until.ts'

describe.skipIf(browserPath === null)('jobs', () => {
  let rig: DashboardRig
  let worker: JobWorker
  let writePage: (() => void) | null = null

  /** Writes a page whenever the test says so, until it is stopped. */
  const report = defineJob({
    name: 'report',
    run: async (_input, { logger, progress, signal }) => {
      for (let page = 1; page <= 3; page++) {
        await new Promise<void>((resolve, reject) => {
          writePage = resolve
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
        logger.info({ page }, 'Wrote a page')
        progress(page / 3)
      }
      return { pages: 3 }
    },
  })

  const nextPage = async (): Promise<void> => {
    const write = await until(
      'the handler to wait',
      () => writePage,
      (waiting) => waiting !== null,
    )
    writePage = null
    write?.()
  }

  beforeAll(async () => {
    rig = await DashboardRig.create()
    await rig.api.call('POST', '/v1/jobs', { body: { name: 'orphan' } })
    worker = new JobWorker({
      databaseUrl: rig.api.database.url,
      journalFolder: null,
      jobs: [report],
      name: 'w-1',
    })
    await worker.start()
  })

  afterAll(async () => {
    await worker.stop()
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  const trigger = async (page: Awaited<ReturnType<DashboardRig['signedIn']>>, job: string): Promise<void> => {
    await page.goto(`/jobs/${job}`)
    await page.getByRole('button', { name: 'Trigger…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/Input, as JSON/).fill('{"month":"2030-01"}')
    await dialog.getByLabel(/Reason/).fill('The first one failed.')
    await dialog.getByRole('button', { name: 'Trigger', exact: true }).click()
    await page.waitForURL('**/runs/run_*')
  }

  test('are triggered with an input and a reason, and their log is followed to its end', async () => {
    const page = await rig.signedIn('operator')
    await trigger(page, 'report')
    const log = page.getByRole('log', { name: 'Log lines' })
    for (const lines of [1, 2]) {
      await nextPage()
      await expect.poll(() => log.getByText('Wrote a page').count()).toBe(lines)
    }
    const bar = page.getByRole('progressbar', { name: 'Progress' })
    await expect.poll(() => bar.getAttribute('aria-valuenow')).toBe('67')
    await nextPage()
    await page.getByText('Succeeded').first().waitFor()
    await page.getByRole('region', { name: 'Result' }).getByText('"pages"').waitFor()
    await page.goto('/queues')
    const row = page.getByRole('row', { name: /^default/ })
    await expect.poll(() => row.innerText()).toMatch(/Active\s+0\s+–\s+1\s/)
  })

  test('a run is cancelled: its handler is told and stops', async () => {
    const page = await rig.signedIn('operator')
    await trigger(page, 'report')
    await nextPage()
    await page.getByRole('log', { name: 'Log lines' }).waitFor()
    await page.getByRole('button', { name: 'Cancel run…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/Reason/).fill('Not needed any more.')
    await dialog.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
  })

  test('a run leads to the other runs of its queue and of its worker', async () => {
    const page = await rig.signedIn('operator')
    await trigger(page, 'report')
    const runPage = page.url()
    for (const [name, filter] of [
      ['default', 'queue=default'],
      ['w-1', 'worker=w-1'],
    ] as const) {
      await page.goto(runPage)
      await page.locator('.subtitle').getByRole('link', { name, exact: true }).click()
      await page.waitForURL(`**/runs?${filter}`)
    }
    for (let lines = 0; lines < 3; lines += 1) await nextPage()
  })

  test.each([
    ['/endpoints/nosuch', 'endpoint', '/endpoints'],
    ['/jobs/nosuch', 'job', '/jobs'],
    ['/routes/nosuch', 'route', '/routes'],
    ['/deliveries/dlv_0000000000g', 'delivery', '/deliveries'],
    ['/runs/run_0000000000g', 'run', '/runs'],
  ])('%s, which does not exist, says so and leads to the list', async (path, noun, list) => {
    const page = await rig.signedIn('operator')
    await page.goto(path)
    const note = page.getByRole('alert').filter({ hasText: `There is no such ${noun}.` })
    await note.waitFor()
    expect(await note.count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Try now' }).count()).toBe(0)
    await note.getByRole('link').click()
    await page.waitForURL(`**${list}`)
  })

  test('a run that no worker handles says so', async () => {
    const page = await rig.signedIn('operator')
    await trigger(page, 'orphan')
    await page.getByText('No live worker handles the job orphan.').waitFor()
    await page.goto('/runs?job=orphan')
    await page.locator('tbody tr').getByText('no worker').waitFor()
  })

  test('a worker is drained, and claims again when that is taken back', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/workers')
    await page.getByRole('button', { name: 'Drain… w-1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drain', exact: true }).click()
    await page.getByRole('button', { name: 'Stop draining… w-1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop draining', exact: true }).click()
    await page.getByRole('button', { name: 'Drain… w-1' }).waitFor()
  })
})
