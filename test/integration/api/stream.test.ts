import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { maxStreamsPerKey } from '../../../src/api/stream/open-streams.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import { createWorker } from '../../../src/sdk/create-worker.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: ApiRig
let key: string

beforeAll(async () => {
  rig = await ApiRig.create({ handlers: { sink: () => {} } })
  key = await rig.keyOf('viewer')
  await rig.holdfast.endpoints.create({ name: 'sink', transport: 'function' })
  await rig.holdfast.start()
})

afterAll(() => rig.stop())

interface Follower {
  readonly events: { id?: string; event: string; data: Record<string, unknown> }[]
  stop(): void
}

async function follow(headers: Record<string, string> = {}, query = ''): Promise<Follower> {
  const abort = new AbortController()
  const response = await fetch(`${rig.server.url}/v1/stream${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: abort.signal,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const events: Follower['events'] = []
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)))
        if (fields['event'] !== undefined) {
          events.push({ id: fields['id'], event: fields['event'], data: JSON.parse(fields['data']) })
        }
      }
    }
  }
  read().catch(() => {})
  return { events, stop: () => abort.abort() }
}

function of({ events }: Follower, event: string): Record<string, unknown>[] {
  return events.filter((each) => each.event === event).map(({ data }) => data)
}

test('a client that asks for less detail learns of traffic, not of its entries', async () => {
  const [brief, full] = [await follow({}, '?detail=brief'), await follow()]
  await until(
    'traffic on both streams',
    async () => {
      await rig.holdfast.send('sink', { hello: 'world' })
      return Math.min(of(brief, 'attempts').length, of(full, 'attempts').length)
    },
    (count) => count > 0,
  )
  expect(of(brief, 'attempts')[0]).toEqual({})
  expect(of(full, 'attempts')[0]).toMatchObject({
    attempts: expect.arrayContaining([expect.objectContaining({ endpoint: 'sink' })]),
  })
  brief.stop()
  full.stop()
  const refused = await fetch(`${rig.server.url}/v1/stream?detail=some`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(refused.status).toBe(422)
})

test('a client receives changes, attempts and totals', async () => {
  const follower = await follow()
  await until(
    'the first totals',
    () => of(follower, 'totals').length,
    (count) => count > 0,
  )
  await rig.call('POST', '/v1/endpoints/sink/pause', { body: {} })
  await until(
    'the pause',
    () => of(follower, 'change'),
    (changes) => changes.some(({ action }) => action === 'endpoint.paused'),
  )
  expect(of(follower, 'change')[0]).toMatchObject({ subject: 'endpoint:sink' })
  await rig.call('POST', '/v1/endpoints/sink/resume')
  await until(
    'an attempt',
    async () => {
      await rig.holdfast.send('sink', 1)
      return of(follower, 'attempts')
    },
    (attempts) => attempts.length > 0,
  )
  expect(of(follower, 'attempts')[0]).toMatchObject({
    attempts: expect.arrayContaining([expect.objectContaining({ endpoint: 'sink', outcome: 'success' })]),
    leftOut: expect.any(Number),
  })
  follower.stop()
})

test('changes of keys and database roles reach administrators only', async () => {
  const viewer = await follow()
  const admin = await follow({ authorization: `Bearer ${await rig.keyOf('admin')}` })
  await rig.call('POST', '/v1/api-keys', { body: { name: 'told-to-admins', role: 'viewer' } })
  await rig.database.pool.query(
    `select holdfast_internal.audit('owner', 'role.granted', 'role:shop', '{"rights": "app"}')`,
  )
  await rig.call('PATCH', '/v1/settings', { body: { rejecting_threshold: 30 } })
  const actions = (follower: Follower) => of(follower, 'change').map(({ action }) => action)
  for (const follower of [admin, viewer]) {
    await until(
      'the last change',
      () => actions(follower),
      (seen) => seen.includes('setting.updated'),
    )
  }
  expect(actions(admin)).toEqual(expect.arrayContaining(['api_key.created', 'role.granted']))
  const again = await follow({ 'last-event-id': '0-0' })
  await until(
    'what was missed',
    () => actions(again),
    (seen) => seen.includes('setting.updated'),
  )
  for (const follower of [viewer, again]) expect(actions(follower).join()).not.toMatch(/api_key|role\./)
  for (const follower of [viewer, admin, again]) follower.stop()
})

test('a client receives the runs that end, with their outcomes', async () => {
  const job = defineJob({
    name: 'followed',
    retry: { maxRetries: 0 },
    run: (input) => {
      if (input === 'fail') throw new Error('as asked')
    },
  })
  const worker = await createWorker({ databaseUrl: rig.database.url, jobs: [job], journalFolder: null })
  const follower = await follow()
  const ended = () => of(follower, 'runs').flatMap(({ runs }) => runs as Record<string, unknown>[])
  const enqueue = async () => {
    const succeeding = await rig.holdfast.enqueue(job, 'succeed')
    await rig.holdfast.enqueue(job, 'fail')
    return succeeding.id
  }
  const ids: unknown[] = []
  // The worker hears of the stream a moment after it is open.
  await until(
    'both outcomes',
    async () => {
      ids.push(await enqueue())
      return ended()
    },
    (runs) => runs.some(({ outcome }) => outcome === 'dead') && runs.some(({ runId }) => ids.includes(runId)),
  )
  expect(ended().find(({ outcome }) => outcome === 'dead')).toMatchObject({
    job: 'followed',
    attempt: 1,
    error: 'Error: as asked',
    durationMs: expect.any(Number),
  })
  expect(ended().find(({ runId }) => ids.includes(runId))).toMatchObject({
    outcome: 'succeeded',
    error: null,
  })
  follower.stop()
  await worker.stop()
})

test('the stream continues after Last-Event-ID', async () => {
  const first = await follow()
  await rig.call('POST', '/v1/event-types', { body: { name: 'stream.one' } })
  const seen = await until(
    'the change',
    () => first.events.find(({ data }) => data['subject'] === 'event-type:stream.one'),
    (event) => event !== undefined,
  )
  first.stop()
  await rig.call('POST', '/v1/event-types', { body: { name: 'stream.two' } })
  const second = await follow({ 'last-event-id': seen!.id! })
  await until(
    'what was missed',
    () => of(second, 'change'),
    (changes) => changes.length > 0,
  )
  expect(of(second, 'change').map(({ subject }) => subject)).toEqual(['event-type:stream.two'])
  second.stop()
})

test('a client that was away for too long receives a reset', async () => {
  await rig.database.pool.query(
    `insert into holdfast_internal.audit_log (actor, action, subject) select 'test', 'noise', 'noise' from generate_series(1, 1100)`,
  )
  const follower = await follow({ 'last-event-id': '1-0' })
  await until(
    'the reset',
    () => of(follower, 'reset').length,
    (count) => count === 1,
  )
  follower.stop()
})

test('a client that leaves before its stream has begun keeps no slot', async () => {
  const own = await rig.keyOf('viewer')
  const { port } = new URL(rig.server.url)
  const call = () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `GET /v1/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${own}\r\nlast-event-id: 0-0\r\n\r\n`,
    )
    return socket
  }
  // At different moments of the call: while its key is checked, and while missed events are read.
  for (let number = 0; number < 2 * maxStreamsPerKey; number += 1) {
    const socket = call()
    await new Promise((resolve) => setTimeout(resolve, number % 8))
    socket.destroy()
  }
  const openAll = async () => {
    const sockets = Array.from({ length: maxStreamsPerKey }, call)
    const answers = await Promise.all(sockets.map((socket) => once(socket, 'data')))
    for (const socket of sockets) socket.destroy()
    return answers.filter(([answer]) => String(answer).startsWith('HTTP/1.1 200')).length
  }
  await until('all slots to be free', openAll, (opened) => opened === maxStreamsPerKey)
})

test('a client that does not read is disconnected', async () => {
  const { port } = new URL(rig.server.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.pause()
  socket.write(`GET /v1/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`)
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('error', () => {})
  const noise = 'n'.repeat(6000)
  await until(
    'the slow reader to be dropped',
    async () => {
      const values = Array.from({ length: 400 }, () => `('test', 'noise', '${noise}')`).join(',')
      await rig.database.pool.query(
        `insert into holdfast_internal.audit_log (actor, action, subject) values ${values}`,
      )
      const { rows } = await rig.database.pool.query<{ count: string }>(
        `select count(*) from pg_stat_activity where application_name = 'holdfast-stream' and datname = current_database()`,
      )
      return Number(rows[0]!.count)
    },
    (listeners) => listeners === 0,
    25_000,
  )
  socket.resume()
  await until(
    'the socket to close',
    () => isClosed,
    (closed) => closed,
  )
})
