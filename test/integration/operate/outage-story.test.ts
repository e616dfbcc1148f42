import { afterEach, beforeEach, expect, it } from 'vitest'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { choose } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import type { ReceivedRequest } from '../../support/receivers/ledger.ts'
import { SettableClock } from '../../support/settable-clock.ts'
import { createTestDatabase } from '../../support/test-database.ts'

/*
 * The hour is an hour of the database's clock, which the test moves (see SettableClock). Every policy and every alert rule is as it
 * comes: 30 s of cooldown, ten retries, a minute to fire, five to resolve. Only the node's own rhythm is quicker, so that it hears of
 * the time soon: nothing here waits for real minutes. It is alone, so no stall of this machine may make it stop for fear that another
 * node has taken over: what it was sending then would come twice.
 */
const rhythm = {
  beatMs: 40,
  maintenanceMs: 20,
  rollupMs: 100,
  sweepMs: 200,
  slowPollMs: 40,
  fenceAfterMs: 60_000,
  deadAfterMs: 80_000,
}
const minuteMs = 60_000
const outageMinutes = 60
const eventsAMinute = 3
const customers = 7
const patienceMs = 30_000

const goodTemplate = { order: '{{ n }}', total: '{{ total }}' }
const badTemplate = { order: '{{ n }}', sum: '{{ total }}' }

interface Published {
  readonly id: string
  readonly n: number
  readonly customer: string
}

let rig: Rig
let clock: SettableClock
let node: RunningNode
let crm: HttpReceiver
let erp: HttpReceiver
let billing: HttpReceiver
let pager: HttpReceiver
let published: Published[]

beforeEach(async () => {
  published = []
  const database = await createTestDatabase({ isMigrated: false, maxConnections: 30 })
  rig = Rig.on(database)
  clock = await SettableClock.install(database)
  crm = await HttpReceiver.start()
  erp = await HttpReceiver.start()
  // It wants the total of an order under that name.
  billing = await HttpReceiver.start({
    behaviour: choose(({ body }) => ('total' in (JSON.parse(body) as object) ? 200 : 422)),
  })
  pager = await HttpReceiver.start()
  node = await rig.start({ limits: rhythm, allowPorts: 'any' })
})

afterEach(async () => {
  await rig.stop()
  for (const receiver of [crm, erp, billing, pager]) await receiver.stop()
})

async function publish(count: number): Promise<void> {
  const from = published.length
  const events = Array.from({ length: count }, (_, index) => ({
    type: 'order.paid',
    payload: { n: from + index, total: (from + index) * 100 },
    orderingKey: `customer-${(from + index) % customers}`,
  }))
  const accepted = await node.holdfast.publishBatch(events)
  accepted.forEach(({ id, deliveries }, index) => {
    expect(deliveries).toBe(3)
    published.push({ id, n: from + index, customer: events[index]!.orderingKey })
  })
}

/**
 * A minute, and what the leading node does in it anyway: one look at every alert rule. The minute begins when everything has come that can: a busy
 * machine takes seconds for what a real minute has room for, and a quarter of an hour of this clock passes in as many.
 */
async function minutePasses(): Promise<void> {
  for (const endpoint of ['crm', 'alerts.pager']) await rig.whenSettled(endpoint, patienceMs)
  await clock.pass(minuteMs)
  const from = await rig.value<Date>('select clock_timestamp()')
  await node.holdfast.maintenance.run('alerts')
  await until(
    'a look at the alert rules',
    () =>
      rig.value<boolean>(
        `select coalesce(last_started_at >= $1 and last_succeeded_at >= last_started_at and running_since is null, false)
         from holdfast_internal.maintenance_tasks where name = 'alerts'`,
        [from],
      ),
    Boolean,
    patienceMs,
  )
}

const probesOf = (endpoint: string) => node.log.of(endpoint).filter(({ isProbe }) => isProbe)
const health = (endpoint: string) => node.holdfast.endpoints.health(endpoint)
const idsOf = (requests: readonly ReceivedRequest[]) => requests.map(({ webhookId }) => String(webhookId))

/** Says of each alert what it found and since when: the names alone don't explain one that should not fire. */
async function expectFiring(expected: readonly string[]): Promise<void> {
  const { data } = await node.holdfast.alerts.list({ state: 'firing' })
  const found = data.map(
    ({ rule, subject, value, since }) => `${rule} ${subject} (${value} since ${since.toISOString()})`,
  )
  expect(
    data.map(({ rule, subject }) => `${rule} ${subject}`).sort(),
    `firing: ${found.join(', ')}; the node said: ${node.complaints.join(', ')}`,
  ).toEqual(expected)
}

const pages = () =>
  pager.ledger.requests.map(({ body }) => {
    const { type, rule, incidents } = JSON.parse(body) as {
      type: string
      rule: string
      incidents: { subject: string }[]
    }
    return `${type} ${rule} ${incidents.map(({ subject }) => subject).join(' ')}`
  })

/** For each customer, what came is in the order in which it was published. */
function expectOrderKept(requests: readonly ReceivedRequest[]): void {
  for (let customer = 0; customer < customers; customer += 1) {
    const theirs = published.filter((event) => event.customer === `customer-${customer}`).map(({ id }) => id)
    const came = idsOf(requests).filter((id) => theirs.includes(id))
    expect(came).toEqual(theirs.filter((id) => came.includes(id)))
  }
}

it('an outage of an hour and a bad deploy, from the first failure to the last resolved alert: nothing is lost, nothing comes twice', async () => {
  const { holdfast } = node
  await holdfast.endpoints.create({ name: 'crm', config: { url: crm.url } })
  await holdfast.endpoints.create({ name: 'erp', config: { url: erp.url } })
  // One at a time: the twentieth refusal stops it before a twenty-first is out.
  await holdfast.endpoints.create({
    name: 'billing',
    config: { url: billing.url },
    limits: { concurrency: 1 },
  })
  for (const endpoint of ['crm', 'erp']) {
    await holdfast.routes.create({ name: `orders-to-${endpoint}`, eventType: 'order.*', endpoint })
  }
  await holdfast.routes.create({
    name: 'orders-to-billing',
    eventType: 'order.*',
    endpoint: 'billing',
    transform: { type: 'template', template: goodTemplate },
  })
  await holdfast.alertChannels.create({ name: 'pager', kind: 'webhook', url: pager.url })

  // A calm morning.
  await publish(30)
  for (const endpoint of ['crm', 'erp', 'billing']) await rig.whenSettled(endpoint, patienceMs)
  await minutePasses()
  const calmCount = published.length

  // The ERP goes away, and somebody deploys a template that renames a field.
  const { port } = erp
  const erpBefore = erp.ledger.requests
  await erp.stop()
  await holdfast.routes.update('orders-to-billing', {
    transform: { type: 'template', template: badTemplate },
  })
  await publish(customers + 1)
  await until(
    'the circuit to open',
    async () => (await health('erp')).circuit.state === 'open',
    Boolean,
    patienceMs,
  )
  for (let minute = 1; minute <= outageMinutes; minute += 1) {
    await publish(eventsAMinute)
    await minutePasses()
    await until(
      `probe ${minute} to fail`,
      async () => probesOf('erp').length === minute && (await health('erp')).circuit.state === 'open',
      Boolean,
      patienceMs,
    )
  }

  // The whole backlog waits behind the circuit; a probe a minute is all that was tried, and none of it is dead.
  const owedToErp = published.length - calmCount
  expect(await rig.owed('erp')).toBe(owedToErp)
  expect(owedToErp).toBe(customers + 1 + outageMinutes * eventsAMinute)
  expect(probesOf('erp')).toHaveLength(outageMinutes)
  // Five failures open the circuit; of each customer one can have been out at that moment.
  const failures = node.log.of('erp').length - erpBefore.length - outageMinutes
  expect(failures).toBeGreaterThanOrEqual(5)
  expect(failures).toBeLessThanOrEqual(customers)
  expect(await health('erp')).toMatchObject({ state: 'active', deadLetters: 0, circuit: { state: 'open' } })
  const { openedAt } = (await health('erp')).circuit
  const openMs = (await rig.value<Date>('select clock_timestamp()')).getTime() - openedAt!.getTime()
  expect(openMs / minuteMs).toBeGreaterThanOrEqual(outageMinutes)

  // Billing refused twenty, was stopped, and keeps the rest.
  expect(await health('billing')).toMatchObject({ state: 'rejecting', deadLetters: 20 })
  expect(await rig.owed('billing')).toBe(owedToErp - 20)
  const groups = await holdfast.deadLetters.groups()
  expect(groups).toMatchObject([
    { endpoint: 'billing', count: 20, sample: { statusCode: 422, class: 'permanent', reason: 'permanent' } },
  ])
  // The third endpoint never noticed.
  await rig.whenSettled('crm', patienceMs)
  expect(idsOf(crm.ledger.requests)).toHaveLength(published.length)

  // Each incident was told once.
  await expectFiring(['backlog-age erp', 'circuit-open erp', 'rejecting billing'])
  await rig.whenSettled('alerts.pager', patienceMs)
  expect(pages().sort()).toEqual([
    'alert.firing backlog-age erp',
    'alert.firing circuit-open erp',
    'alert.firing rejecting billing',
  ])

  // The ERP is back: the next probe closes the circuit, and the backlog drains.
  erp = await HttpReceiver.start({ port })
  await minutePasses()
  await rig.whenSettled('erp', patienceMs)
  expect(probesOf('erp')).toHaveLength(outageMinutes + 1)
  expect(idsOf(erp.ledger.requests).sort()).toEqual(
    published
      .slice(calmCount)
      .map(({ id }) => id)
      .sort(),
  )
  expectOrderKept(erp.ledger.requests)
  expect(await health('erp')).toMatchObject({ circuit: { state: 'closed' }, deadLetters: 0 })

  // The template is mended, the endpoint resumed: what was kept goes out first, in order and in the right shape.
  const refused = idsOf(billing.ledger.requests.slice(calmCount))
  expect(refused).toHaveLength(20)
  await holdfast.routes.update('orders-to-billing', {
    transform: { type: 'template', template: goodTemplate },
  })
  const filter = { endpoint: 'billing', statusCode: 422 }
  const { count, asOf } = await holdfast.operations.preview({ kind: 'redrive', filter })
  expect(count).toBe(20)
  await holdfast.as('ada').endpoints.resume('billing')
  await rig.whenSettled('billing', patienceMs)
  expect(await health('billing')).toMatchObject({ state: 'active', deadLetters: 20 })
  const kept = published
    .slice(calmCount)
    .map(({ id }) => id)
    .filter((id) => !refused.includes(id))
  const keptRequests = billing.ledger.requests.slice(calmCount + 20)
  expect(idsOf(keptRequests).sort()).toEqual(kept)
  expectOrderKept(keptRequests)

  // The letters follow, as one operation that says how far it is.
  const operation = await holdfast
    .as('ada')
    .operations.create({ kind: 'redrive', filter, asOf, ratePerSecond: 10 })
  expect(operation).toMatchObject({ total: 20, createdBy: 'ada' })
  const progress: number[] = []
  const ended = await until(
    'the redrive to end',
    async () => {
      const seen = await holdfast.operations.get(operation.id)
      progress.push(seen.done)
      return seen
    },
    ({ state }) => state !== 'running',
    patienceMs,
  )
  expect(ended).toMatchObject({ state: 'succeeded', done: 20, skipped: 0, error: null })
  expect(progress).toEqual([...progress].sort((first, second) => first - second))
  expect(progress.some((done) => done > 0 && done < 20)).toBe(true)
  await rig.whenSettled('billing', patienceMs)
  const redriven = billing.ledger.requests.slice(calmCount + 20 + kept.length)
  expect(idsOf(redriven).sort()).toEqual([...refused].sort())
  expectOrderKept(redriven)
  const letters = (await holdfast.deadLetters.list({ endpoint: 'billing', state: 'redriven' })).data
  const byAge = letters.toSorted((first, second) => (first.messageId < second.messageId ? -1 : 1))
  const deliveryIds = byAge.map(({ redrivenDeliveryId }) => String(redrivenDeliveryId))
  expect(deliveryIds).toEqual([...deliveryIds].sort())
  expect(await holdfast.deadLetters.groups()).toEqual([])
  expect(await holdfast.deadLetters.summary()).toMatchObject([{ endpoint: 'billing', dead: 0, redriven: 20 }])

  // Five clear minutes later every alert has resolved, each told once.
  for (let minute = 0; minute < 7; minute += 1) await minutePasses()
  await expectFiring([])
  await rig.whenSettled('alerts.pager', patienceMs)
  expect(pages().slice(3).sort()).toEqual([
    'alert.resolved backlog-age erp',
    'alert.resolved circuit-open erp',
    'alert.resolved rejecting billing',
  ])
  expect((await holdfast.alerts.list()).data).toHaveLength(3)

  // The books: everything published has been accepted by each of the three, once.
  await publish(5)
  for (const endpoint of ['crm', 'erp', 'billing']) await rig.whenSettled(endpoint, patienceMs)
  const everything = published.map(({ id }) => id).sort()
  expect(new Set(everything).size).toBe(everything.length)
  expect(idsOf(crm.ledger.requests).sort()).toEqual(everything)
  expect(idsOf([...erpBefore, ...erp.ledger.requests]).sort()).toEqual(everything)
  const accepted = billing.ledger.requests.filter(({ body }) => 'total' in (JSON.parse(body) as object))
  expect(idsOf(accepted).sort()).toEqual(everything)
  expect(billing.ledger.requests).toHaveLength(everything.length + 20)
  expectOrderKept([...erpBefore, ...erp.ledger.requests])
  expectOrderKept(crm.ledger.requests)
}, 180_000)
