import { connect, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

const maxReadAheadBytes = 1_000_000
const text = 'x'.repeat(100_000)
const messages = 150
/** All of it is fifteen times what may be read ahead. One read ends with the message that exceeds it, and a node on a busy machine may have to begin anew. */
const maxReadBytes = 6 * maxReadAheadBytes

/** A relay to the database that counts what comes back. */
async function countingRelay(
  databaseUrl: string,
): Promise<{ url: string; bytes: () => number; server: Server }> {
  const target = new URL(databaseUrl)
  let received = 0
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    upstream.on('data', (chunk) => {
      received += chunk.length
    })
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return { url: url.href, bytes: () => received, server }
}

describe('what a node reads ahead stays within its bytes', () => {
  let rig: Rig
  let relay: Awaited<ReturnType<typeof countingRelay>>
  let node: RunningNode

  beforeEach(async () => {
    rig = await Rig.create()
    relay = await countingRelay(rig.database.url)
    node = await rig.start({ databaseUrl: relay.url, limits: { ...withoutSafetyNets, maxReadAheadBytes } })
  })
  afterEach(async () => {
    await rig.stop()
    relay.server.close()
  })

  /** A receiver that holds the first message until the test has seen how much was read behind it. */
  async function heldEndpoint() {
    const gate = new Gate()
    const seen: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async ({ payload }) => {
        seen.push((payload as { n: number }).n)
        if ((payload as { n: number }).n >= 0) await gate.passed()
      },
      { limits: { concurrency: 1 } },
    )
    const behind = async () => {
      await until('the first to be out', () => seen.some((n) => Number(n) >= 0))
      // Lanes are read in turn: when another one's message has come, this one has been asked again.
      const isRead = new Gate()
      const other = await functionEndpoint(node.holdfast, () => isRead.open())
      await rig.client().send(other, 'later')
      await isRead.passed()
      return relay.bytes()
    }
    const settled = async () => {
      gate.open()
      await rig.whenSettled(name, 20_000)
      expect(new Set(seen.filter((n) => Number(n) >= 0)).size).toBe(messages)
    }
    return { name, behind, settled }
  }

  const many = (key?: (n: number) => string) =>
    Array.from({ length: messages }, (_, n) => ({
      payload: { n, text },
      ...(key && { orderingKey: key(n) }),
    }))

  it('with a long backlog', async () => {
    const { name, behind, settled } = await heldEndpoint()
    const before = relay.bytes()
    await rig.client().sendBatch(name, many())
    expect((await behind()) - before).toBeLessThan(maxReadBytes)
    await settled()
  })

  it('with messages that were committed late', async () => {
    const { name, behind, settled } = await heldEndpoint()
    const client = await rig.database.pool.connect()
    await client.query('begin')
    await rig.client().sendBatch(name, many(), { client })
    await rig.client().send(name, { n: -1 })
    await rig.whenSettled(name)
    const before = relay.bytes()
    await client.query('commit')
    client.release()
    expect((await behind()) - before).toBeLessThan(maxReadBytes)
    await settled()
  })

  it('with ordering keys that become free together', async () => {
    const { name, behind, settled } = await heldEndpoint()
    await rig.client().endpoints.update(name, { onDead: 'block' })
    const letters = Array.from({ length: messages }, (_, n) => `key-${n}`)
    const lane = await rig.laneId(name)
    await rig.rows(
      `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts, ordering_key, blocks_key)
       select nextval('holdfast_internal.ids'), nextval('holdfast_internal.ids'), 1, $1, 'permanent', 3, 1, 0, 1, '[]', key, true from unnest($2::text[]) as key`,
      [lane, letters],
    )
    await rig.client().sendBatch(
      name,
      many((n) => `key-${n}`),
    )
    await rig.client().send(name, { n: -1 })
    await until('the one without a key', async () => (await rig.owed(name)) === messages)
    const before = relay.bytes()
    await rig.rows(
      `select holdfast_internal.settle_letters(array(select id from holdfast_internal.dead_letters), 'resolved', null, null, 'test')`,
    )
    expect((await behind()) - before).toBeLessThan(maxReadBytes)
    await settled()
  })
})
