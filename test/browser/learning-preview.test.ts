import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canaries, sampleEvent, samples } from '../../src/transforms/learning/sample-events.ts'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'

const settings = {
  platformUrl: 'https://learn.example',
  actor: { from: 'map', map: { '*': 'learner-1' } },
  onUnknown: 'skip',
}
const key = 'the-key-of-all-pseudonyms'
const pseudonym = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/

describe.skipIf(browserPath === null)('the editor of a route for learning events', () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    const post = async (path: string, body: object) => {
      const { status, text } = await rig.api.call('POST', path, { body })
      expect([path, status < 400, text]).toEqual([path, true, text])
    }
    await post('/v1/endpoints', {
      name: 'lrs',
      preset: 'record-store',
      config: { url: 'https://lrs.example/statements' },
    })
    await post('/v1/endpoints/lrs/pause', {})
    for (const [name, eventType] of [
      ['videos', 'play_video'],
      ['pages', 'page_close'],
    ])
      await post('/v1/routes', { name, eventType, endpoint: 'lrs', transform: { type: 'xapi', ...settings } })
    await post('/v1/routes', {
      name: 'problems',
      eventType: 'problem_check',
      endpoint: 'lrs',
      transform: { type: 'xapi', ...settings, actor: { from: 'hash', key } },
    })
    await post('/v1/events', { type: 'problem_check', payload: samples['problem_check'] })
    await post('/v1/events', { type: 'play_video', payload: samples['play_video'] })
    await post('/v1/events', { type: 'page_close', payload: sampleEvent('page_close', {}) })
  })
  afterAll(async () => {
    expect(rig.complaints.flat()).toEqual([])
    await rig.stop()
  })

  test('shows what an event becomes in both formats while its settings are written, and what is skipped', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/routes/videos')
    const sent = page.getByRole('region', { name: 'Request that would be sent' })
    await sent.getByText('https://w3id.org/xapi/video/verbs/played').waitFor()
    expect(await sent.getByText('learner-1').count()).toBe(1)
    await page.getByLabel('Transform').fill(JSON.stringify({ type: 'caliper', ...settings }))
    await sent.getByText('MediaEvent').waitFor()
    await page.getByLabel('Transform').fill(JSON.stringify({ type: 'caliper' }))
    await page
      .getByText(/platformUrl/)
      .first()
      .waitFor()
    await page.goto('/routes/pages')
    await page.getByText('An event like this one would be skipped').waitFor()
  })

  test('offers both formats, and asks for the key of pseudonyms', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/routes/+new?endpoint=lrs&eventType=play_video')
    for (const [name, type] of [
      ['xAPI', 'xapi'],
      ['Caliper', 'caliper'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click()
      const written = JSON.parse(await page.getByLabel('Transform').inputValue()) as object
      expect(written).toMatchObject({ type, actor: { from: 'hash', key: '' } })
      await page
        .getByText(/actor\.key/)
        .first()
        .waitFor()
    }
  })

  test('shows the pseudonym of the learner, and neither the name nor the key', async () => {
    const page = await rig.signedIn('admin')
    await page.goto('/routes/problems')
    const sent = page.getByRole('region', { name: 'Request that would be sent' })
    await sent.getByText('https://w3id.org/xapi/acrossx/verbs/evaluated').first().waitFor()
    const before = await sent.innerText()
    const [learner] = pseudonym.exec(before) ?? []
    expect(learner).toBeDefined()
    // Written anew with the key left as it is shown, it is still the same learner.
    const transform = page.getByLabel('Transform')
    await transform.fill((await transform.inputValue()).replace('learn.example', 'other.example'))
    await sent.getByText('other.example').first().waitFor()
    const after = await sent.innerText()
    expect(after).toContain(String(learner))
    for (const secret of [canaries.username, canaries.email, key]) expect(after).not.toContain(secret)
    expect(await page.content()).not.toContain(key)
  })
})
