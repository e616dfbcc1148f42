import { cpus } from 'node:os'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from '../support/browser/browser.ts'
import { DashboardRig } from '../support/browser/dashboard-rig.ts'
import { scrollFrames } from '../support/browser/frame-work.ts'
import { listByHand } from '../support/browser/list-by-hand.ts'

const rows = 100_000
const frames = 100
/** Twenty screens a second: more than a fling. */
const perFrame = 300
/** Now and then somebody pulls the scroll bar. */
const jump = 300_000
const frameBudgetMs = 8
/** A slow machine misses any number of milliseconds: what a list written by hand costs there may be exceeded by so much. It was 0.4 to 1.25 times that. */
const timesByHand = 1.5

/** With less of the processors free, caches and cores that others use make the same work take half as much processor time again: it says nothing about the page. */
const minFree = 0.5
/** All tests together wait this long for it. */
const calmWaitMs = 30_000
let calmDeadlineMs: number | undefined

/** Which share of the processors is free, over a second; once it is enough, or after a wait. */
async function freeOnceCalm(): Promise<number> {
  calmDeadlineMs ??= performance.now() + calmWaitMs
  for (;;) {
    const before = processorTimes()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const after = processorTimes()
    const free = (after.idleMs - before.idleMs) / (after.allMs - before.allMs)
    if (free >= minFree || performance.now() > calmDeadlineMs) return free
  }
}

function processorTimes(): { idleMs: number; allMs: number } {
  let idleMs = 0
  let allMs = 0
  for (const { times } of cpus()) {
    idleMs += times.idle
    allMs += times.idle + times.user + times.sys + times.nice + times.irq
  }
  return { idleMs, allMs }
}

interface Work {
  readonly scriptMs: number
  readonly layoutMs: number
}

/** What the page has worked so far. */
async function workOf(devtools: CDPSession): Promise<Work> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  const secondsOf = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0
  return {
    scriptMs: secondsOf('ScriptDuration') * 1000,
    layoutMs: (secondsOf('LayoutDuration') + secondsOf('RecalcStyleDuration')) * 1000,
  }
}

async function devtoolsOf(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page)
  // Processor time of the page's thread: while something else has the processor, it stands still.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  return devtools
}

// Each is what the dashboard can do: a machine that is busy with something else gets three tries.
describe.skipIf(browserPath === null)('the budget', { retry: 2 }, () => {
  let rig: DashboardRig

  beforeAll(async () => {
    rig = await DashboardRig.create()
    for (let order = 1; order <= 50; order++) {
      await rig.api.call('POST', '/v1/events', { body: { type: 'order.created', payload: { order } } })
    }
  })

  afterAll(async () => {
    await rig.stop()
  })

  test('the first contentful paint comes within 0.8 s with the processor slowed 4 times', async () => {
    const page = await rig.signedIn('viewer')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const devtools = await devtoolsOf(page)
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    const paints: number[] = []
    for (let round = 0; round < 3; round++) {
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      paints.push(
        await page.evaluate(
          () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 1e9,
        ),
      )
    }
    console.log(`first contentful paint, slowed 4 times: ${paints.map(Math.round).join(', ')} ms`)
    expect(middleOf(paints)).toBeLessThan(800)
  })

  test('a change of page takes at most 50 ms of script', async () => {
    const page = await rig.signedIn('viewer')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const devtools = await devtoolsOf(page)
    const go = async (name: string) => {
      const before = await workOf(devtools)
      await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(null))))
      return (await workOf(devtools)).scriptMs - before.scriptMs
    }
    const names = ['Events', 'Deliveries', 'Endpoints', 'Overview']
    for (const name of names) await go(name)
    // The middle of five: in some a collection of garbage falls.
    const rounds: number[][] = []
    for (let round = 0; round < 5; round++) {
      const took: number[] = []
      for (const name of names) took.push(await go(name))
      rounds.push(took)
    }
    const taken = Object.fromEntries(
      names.map((name, place) => {
        return [name, Math.round(middleOf(rounds.map((took) => took[place] ?? Number.NaN)))]
      }),
    )
    console.log(`script for a change of page: ${JSON.stringify(taken)} ms`)
    expect(Math.max(...Object.values(taken))).toBeLessThanOrEqual(50)
  })

  test.for([
    ['a desk', {}],
    ['a phone', { isPhone: true }],
  ] as const)(
    `scrolling ${rows} rows on %s takes ${frameBudgetMs} ms of script and layout a frame, or little more than a list by hand, and no task of 50 ms`,
    { timeout: 120_000 },
    async ([where, options], { skip }) => {
      const free = await freeOnceCalm()
      skip(free < minFree, `the machine is too busy to judge it: ${Math.round(free * 100)} % of it is free`)
      const page = await rig.signedIn('viewer', options)
      const at = new Date().toISOString()
      const data = Array.from({ length: rows }, (_, k) => ({
        id: `msg_${String(k).padStart(11, '0')}`,
        type: 'order.created',
        tenant: null,
        correlationId: `checkout-${k}`,
        orderingKey: null,
        criticality: 'standard',
        state: 'routed',
        sizeBytes: 100 + (k % 900),
        createdAt: at,
        erasedAt: null,
      }))
      const json = JSON.stringify({ data, nextCursor: null })
      await page.route('**/v1/events?*', (route) =>
        route.fulfill({ contentType: 'application/json', body: json }),
      )
      await page.route('**/v1/events', (route) =>
        route.fulfill({ contentType: 'application/json', body: json }),
      )
      await page.goto('/events')
      await page.getByRole('link', { name: 'msg_00000000003' }).waitFor()
      // Updates would be fetched and parsed in between: the test is about scrolling.
      await page.keyboard.press('.')
      const countNodes = () => page.evaluate(() => document.querySelectorAll('*').length)
      const nodes = await countNodes()
      const steps = Array.from({ length: frames }, (_, frame) => (frame % 30 === 29 ? jump : perFrame))
      const byHand = await page.context().newPage()
      await byHand.setContent(listByHand(rows))
      const runs = []
      const handRuns = []
      // In turns: what else the machine does meets both. The first of each compiles.
      for (let run = 0; run < 4; run++) {
        await byHand.bringToFront()
        handRuns.push(await scrollFrames(byHand, steps))
        await page.bringToFront()
        runs.push(await scrollFrames(page, steps))
      }
      runs.shift()
      handRuns.shift()
      const p95s = runs.map((run) => p95Of(run.frames))
      const handP95s = handRuns.map((run) => p95Of(run.frames))
      const handLongest = handRuns.map((run) => run.longestTaskMs)
      const longest = runs.map((run) => run.longestTaskMs)
      const later = await countNodes()
      console.log(
        `scrolling on ${where}, ${perFrame} px a frame: p95 of script, style and layout ${texts(p95s)} ms a frame, of a list by hand ${texts(handP95s)} ms; longest task ${longest.map((ms) => ms.toFixed(0)).join(', ')} ms; ${later} nodes`,
      )
      expect(middleOf(p95s)).toBeLessThanOrEqual(Math.max(frameBudgetMs, middleOf(handP95s) * timesByHand))
      expect(middleOf(longest)).toBeLessThanOrEqual(Math.max(50, middleOf(handLongest) * timesByHand))
      expect(Math.abs(later - nodes)).toBeLessThan(600)
    },
  )
})

function texts(values: readonly number[]): string {
  return values.map((value) => value.toFixed(1)).join(', ')
}

function middleOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

function p95Of(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN
}
