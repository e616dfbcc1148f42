import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { Gate } from '../../support/receivers/gate.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

describe('the circuit of an endpoint', () => {
  let rig: Rig
  let node: RunningNode
  const hourMs = 3_600_000
  const quickRetries = { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 5 } as const

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  const circuitOf = async (name: string) => (await node.holdfast.endpoints.health(name)).circuit
  const whenCircuit = async (name: string, state: string) =>
    until(
      `the circuit to be ${state}`,
      () => circuitOf(name),
      (circuit) => circuit.state === state,
    )
  const attemptRows = async (name: string) =>
    rig.rows<{ delivery_id: number; attempt: number; is_probe: boolean; outcome: number }>(
      'select delivery_id, attempt, is_probe, outcome from holdfast_internal.attempts where lane_id = $1 order by started_at',
      [await rig.laneId(name)],
    )
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ payload: index }))

  /** An endpoint that fails while `isDown`. */
  async function switchable(settings: Parameters<typeof functionEndpoint>[2] = {}) {
    const receiver = { isDown: true, calls: 0 }
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        receiver.calls += 1
        if (receiver.isDown) throw new Error('down')
      },
      { retry: quickRetries, limits: { concurrency: 1 }, ...settings },
    )
    return { name, receiver }
  }

  it('opens after as many failures in a row as its threshold, and then consumes no attempt', async () => {
    const { name } = await switchable({ circuit: { threshold: 3, cooldownMs: hourMs } })
    await node.holdfast.sendBatch(name, numbered(50))
    const circuit = await whenCircuit(name, 'open')
    expect(circuit.failures).toBe(3)
    expect(circuit.probeAt!.getTime() - circuit.openedAt!.getTime()).toBeCloseTo(hourMs, -2)
    await node.holdfast.sendBatch(name, numbered(10))
    const other = await switchable()
    other.receiver.isDown = false
    await node.holdfast.send(other.name, 1)
    await rig.whenSettled(other.name)
    expect(await attemptRows(name)).toHaveLength(3)
    expect(await rig.owed(name)).toBe(60)
    expect(await node.holdfast.circuitChanges.list({ endpoint: name })).toMatchObject([
      { endpoint: name, from: 'closed', to: 'open', probes: 0 },
    ])
    expect(
      await rig.rows(`select from holdfast_internal.audit_log where action like 'circuit.%'`),
      'the audit log is for what people do',
    ).toEqual([])
  })

  it('counts failures in a row only: a success starts again', async () => {
    let calls = 0
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        calls += 1
        if (calls % 3 !== 0) throw new Error('down')
      },
      {
        retry: { ...quickRetries, maxRetries: 20 },
        limits: { concurrency: 1 },
        circuit: { threshold: 3, cooldownMs: hourMs },
      },
    )
    await node.holdfast.sendBatch(name, numbered(20))
    await rig.whenSettled(name, 20_000)
    expect(await circuitOf(name)).toMatchObject({ state: 'closed' })
  })

  it('waits with the probe until older requests have ended', async () => {
    const older = new Gate()
    const running = new Set<number>()
    const besideProbe: number[] = []
    let calls = 0
    const name = await functionEndpoint(
      node.holdfast,
      async () => {
        calls += 1
        const call = calls
        if (call > 2) besideProbe.push(running.size)
        running.add(call)
        if (call === 1) await older.passed()
        running.delete(call)
        throw new Error('down')
      },
      { retry: quickRetries, limits: { concurrency: 2 }, circuit: { threshold: 1, cooldownMs: 1000 } },
    )
    await node.holdfast.sendBatch(name, numbered(5))
    const { probeAt } = await whenCircuit(name, 'open')
    await until('the cooldown to be over', () => Date.now() > probeAt!.getTime() + 500)
    older.open()
    await until('two probes', () => besideProbe.length >= 2)
    expect(besideProbe.slice(0, 2)).toEqual([0, 0])
  })

  it('sends one probe after each cooldown, each time another delivery, none of which loses a retry', async () => {
    const { name, receiver } = await switchable({
      circuit: { threshold: 1, cooldownMs: 1000 },
      retry: { ...quickRetries, maxRetries: 1 },
    })
    await node.holdfast.sendBatch(name, numbered(6))
    await node.log.waitUntil(
      () => node.log.of(name).filter(({ isProbe }) => isProbe).length === 3,
      () => 'three probes',
    )
    const probes = node.log.of(name).filter(({ isProbe }) => isProbe)
    expect(new Set(probes.map(({ messageId }) => messageId)).size).toBe(3)
    for (const [index, probe] of probes.entries()) {
      if (index > 0) expect(probe.atMs - probes[index - 1]!.atMs).toBeGreaterThan(950)
    }
    expect(receiver.calls).toBe(4)
    receiver.isDown = false
    await rig.whenSettled(name)
    expect(
      await rig.rows('select from holdfast_internal.dead_letters where lane_id = $1', [
        await rig.laneId(name),
      ]),
    ).toEqual([])
    expect((await attemptRows(name)).filter(({ outcome }) => outcome === 1)).toHaveLength(6)
    expect(await circuitOf(name)).toMatchObject({ state: 'closed', failures: 0 })
  })

  it('never kills a message by probing with it, however often', async () => {
    const { name, receiver } = await switchable({
      circuit: { threshold: 1, cooldownMs: 1000 },
      retry: { ...quickRetries, maxRetries: 1 },
    })
    await node.holdfast.send(name, 1)
    await node.log.waitUntil(
      () => node.log.of(name).filter(({ isProbe }) => isProbe).length === 3,
      () => 'three probes',
    )
    receiver.isDown = false
    await rig.whenSettled(name)
    const rows = await attemptRows(name)
    expect(rows.map(({ outcome, is_probe: isProbe }) => [outcome, isProbe])).toEqual([
      [2, false],
      [2, true],
      [2, true],
      [2, true],
      [1, false],
    ])
  })

  it('lets nothing else through while its probe is in flight, and ramps up 1, 2, 4 after it closed', async () => {
    const gates: Gate[] = []
    let isDown = true
    let out = 0
    const name = await functionEndpoint(
      node.holdfast,
      async () => {
        if (isDown) throw new Error('down')
        out += 1
        const gate = new Gate()
        gates.push(gate)
        await gate.passed()
        out -= 1
      },
      { circuit: { threshold: 1, cooldownMs: 1000 }, limits: { concurrency: 8 }, retry: quickRetries },
    )
    await node.holdfast.send(name, 'first')
    await whenCircuit(name, 'open')
    isDown = false
    await node.holdfast.sendBatch(name, numbered(40))
    await until('the probe', () => out === 1)
    await whenCircuit(name, 'half_open')
    await node.holdfast.sendBatch(name, numbered(5))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(out).toBe(1)
    const waves: number[] = []
    for (const expected of [1, 2, 4, 8]) {
      for (const gate of gates.splice(0)) gate.open()
      // Those that were let go have left their gates; who counts those that are out may count one of them.
      await until(`${expected} to be out`, () => gates.length === expected)
      await new Promise((resolve) => setTimeout(resolve, 50))
      waves.push(out)
    }
    expect(waves).toEqual([1, 2, 4, 8])
    await until('the rest to go', async () => {
      for (const gate of gates.splice(0)) gate.open()
      return (await rig.owed(name)) === 0
    })
  })

  it('ignores results of attempts that began before it opened', async () => {
    const slow = new Gate()
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        if (message.payload === 'slow') return slow.passed()
        throw new Error('down')
      },
      { circuit: { threshold: 3, cooldownMs: hourMs }, limits: { concurrency: 4 }, retry: quickRetries },
    )
    await node.holdfast.send(name, 'slow')
    await node.holdfast.sendBatch(name, numbered(3))
    await whenCircuit(name, 'open')
    slow.open()
    await until('the slow one to be settled', async () => (await rig.owed(name)) === 3)
    expect(await circuitOf(name)).toMatchObject({ state: 'open', failures: 3 })
  })

  it('ignores failures of attempts that began before a person reset it', async () => {
    const gate = new Gate()
    const name = await functionEndpoint(
      node.holdfast,
      async () => {
        await gate.passed()
        throw new Error('down')
      },
      {
        circuit: { threshold: 3, cooldownMs: hourMs },
        limits: { concurrency: 3 },
        retry: { ...quickRetries, baseDelayMs: 60_000 },
      },
    )
    await node.holdfast.sendBatch(name, numbered(3))
    await until('all to be out', () => node.holdfast.node?.inFlight === 3)
    await node.holdfast.endpoints.resetCircuit(name)
    await until('the node to hear of it', () =>
      rig.value<boolean>(
        'select version > 1 from holdfast_internal.breakers where lane_id = (select id from holdfast_internal.endpoints where name = $1)',
        [name],
      ),
    )
    await new Promise((resolve) => setTimeout(resolve, 200))
    gate.open()
    await until('the failures to be settled', async () => (await attemptRows(name)).length === 3)
    expect(await circuitOf(name)).toMatchObject({ state: 'closed', failures: 0 })
  })

  it('is closed by a reset at once', async () => {
    const { name, receiver } = await switchable({ circuit: { threshold: 1, cooldownMs: hourMs } })
    await node.holdfast.sendBatch(name, numbered(5))
    await whenCircuit(name, 'open')
    receiver.isDown = false
    await node.holdfast.endpoints.resetCircuit(name)
    await rig.whenSettled(name)
    expect(await circuitOf(name)).toMatchObject({
      state: 'closed',
      failures: 0,
      openedAt: null,
      probeAt: null,
    })
  })

  it('does not open for payloads that the receiver refuses', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(400) })
    await node.holdfast.endpoints.create({
      name: 'picky',
      config: { url: receiver.url },
      circuit: { threshold: 2, cooldownMs: hourMs },
    })
    await node.holdfast.sendBatch('picky', numbered(10))
    await rig.whenSettled('picky')
    expect(await circuitOf('picky')).toMatchObject({ state: 'closed', failures: 0 })
  })

  describe('shared with request()', () => {
    it('opens by requests, and deliveries wait', async () => {
      await using receiver = await HttpReceiver.start({ behaviour: answer(500) })
      await node.holdfast.endpoints.create({
        name: 'shared-a',
        config: { url: receiver.url },
        circuit: { threshold: 3, cooldownMs: hourMs },
      })
      for (let call = 0; call < 3; call++) {
        expect(await node.holdfast.request('shared-a', { payload: call })).toMatchObject({
          ok: false,
          status: 500,
          attempts: 1,
        })
      }
      expect(await circuitOf('shared-a')).toMatchObject({ state: 'open', failures: 3 })
      await rig.heard(node)
      await node.holdfast.send('shared-a', 1)
      const other = await switchable()
      other.receiver.isDown = false
      await node.holdfast.send(other.name, 1)
      await rig.whenSettled(other.name)
      expect(receiver.ledger.requests).toHaveLength(3)
      expect(await rig.owed('shared-a')).toBe(1)
    })

    it('opened by deliveries fails a request at once, without a network call', async () => {
      await using receiver = await HttpReceiver.start({ behaviour: answer(503) })
      await node.holdfast.endpoints.create({
        name: 'shared-b',
        config: { url: receiver.url },
        circuit: { threshold: 1, cooldownMs: hourMs },
      })
      await node.holdfast.send('shared-b', 1)
      await whenCircuit('shared-b', 'open')
      await expect(node.holdfast.request('shared-b')).rejects.toMatchObject({
        code: 'circuit_open',
        status: 503,
        isRetryable: true,
        details: { endpoint: 'shared-b', retryAfterMs: expect.any(Number) },
      })
      expect(receiver.ledger.requests).toHaveLength(1)
    })

    it('is closed by a request that is its probe, and deliveries go on', async () => {
      await using receiver = await HttpReceiver.start({ behaviour: answer(500) })
      await node.holdfast.endpoints.create({
        name: 'shared-c',
        config: { url: receiver.url },
        circuit: { threshold: 1, cooldownMs: hourMs },
        retry: quickRetries,
      })
      await node.holdfast.send('shared-c', 1)
      await whenCircuit('shared-c', 'open')
      receiver.behave(answer(200, { body: 'back' }))
      await rig.rows('update holdfast_internal.breakers set probe_at = now() where lane_id = $1', [
        await rig.laneId('shared-c'),
      ])
      expect(await node.holdfast.request('shared-c')).toMatchObject({ ok: true, status: 200, body: 'back' })
      await rig.whenSettled('shared-c')
      expect(await circuitOf('shared-c')).toMatchObject({ state: 'closed' })
    })

    it('retries transport errors within its deadline, and statuses only when configured', async () => {
      await using receiver = await HttpReceiver.start()
      let calls = 0
      receiver.behave((request, response) => {
        calls += 1
        if (calls === 1) response.socket?.resetAndDestroy()
        else answer(calls === 2 ? 429 : 200)(request, response)
      })
      await node.holdfast.endpoints.create({
        name: 'retried',
        config: { url: receiver.url },
        request: { baseDelayMs: 100, retryOn: [429] },
      })
      expect(await node.holdfast.request('retried')).toMatchObject({ ok: true, status: 200, attempts: 3 })
    })
  })
})
