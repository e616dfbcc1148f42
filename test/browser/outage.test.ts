import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool } from '../../src/postgres/pool.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'

describe.skipIf(browserPath === null)('while the database is away', () => {
  let server: DatabaseProcess
  let rig: DashboardRig

  beforeAll(async () => {
    server = await DatabaseProcess.start()
    const pool = createPool({
      connectionString: server.url,
      max: 5,
      applicationName: 'holdfast-test',
      connectTimeoutMs: 10_000,
    })
    rig = await DashboardRig.create({ database: { url: server.url, pool, drop: () => pool.end() } })
    await rig.api.call('POST', '/v1/endpoints', {
      body: { name: 'crm', config: { url: 'http://127.0.0.1:9009/hooks' } },
    })
  })

  afterAll(async () => {
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
    await server[Symbol.asyncDispose]()
  })

  test('the page says so, keeps its data, refuses writes, and recovers by itself', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/endpoints/crm')
    await page.getByRole('button', { name: 'Pause…' }).waitFor()
    await page.getByText('Oldest due').waitFor()
    await server.stop()
    const banner = page.getByRole('alert').filter({ hasText: "The database can't be reached since" })
    await banner.waitFor()
    expect(await banner.count()).toBe(1)
    await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor()
    expect(await page.getByText('Oldest due').isVisible()).toBe(true)
    expect(await page.getByRole('button', { name: 'Pause…' }).isDisabled()).toBe(true)
    expect(await findBarriers(page)).toEqual([])
    await server.restart()
    await banner.waitFor({ state: 'detached', timeout: 40_000 })
    await page.getByRole('button', { name: 'Pause…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('crm is paused').waitFor()
    expect(new URL(page.url()).pathname).toBe('/endpoints/crm')
  })

  test('a dialog that was open keeps what was typed, and can be confirmed afterwards', async () => {
    const page = await rig.signedIn('operator')
    await page.goto('/endpoints/crm')
    await page.getByRole('button', { name: 'Resume…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/Reason/).fill('It is well again.')
    await server.stop()
    await dialog.getByText("the database can't be reached").waitFor()
    const confirm = dialog.getByRole('button', { name: 'Resume', exact: true })
    expect(await confirm.isDisabled()).toBe(true)
    await server.restart()
    await expect.poll(() => confirm.isDisabled(), { timeout: 40_000 }).toBe(false)
    expect(await dialog.getByLabel(/Reason/).inputValue()).toBe('It is well again.')
    await confirm.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Pause…' }).waitFor()
  })
})
