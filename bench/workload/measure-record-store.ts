import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'

const STATEMENTS = 10_000
const BATCH = 500

/**
 * Events a second from publishing to the store's response, through the xAPI transform and batches. One in a hundred exists already, and one in a
 * hundred is refused by the store, which accepts a batch completely or not at all: every valid event must be stored once, and every refused one must
 * become a dead letter.
 */
export async function measureRecordStore(context: SampleContext): Promise<Sample> {
  const store = await startStore()
  const holdfast = new Holdfast({
    databaseUrl: context.databaseUrl,
    allowNetworks: ['127.0.0.0/8'],
    encryptionKey: randomBytes(32).toString('base64'),
  })
  try {
    await holdfast.migrate()
    await holdfast.start()
    await holdfast.endpoints.create({
      name: 'lrs',
      preset: 'record-store',
      config: { url: store.url },
      batch: { maxMessages: 100, maxWaitMs: 200 },
      limits: { concurrency: 4 },
    })
    const actor = { from: 'map', map: { '*': 'learner' } } as const
    const transform = { type: 'xapi', platformUrl: 'https://learn.example', actor } as const
    await holdfast.routes.create({ name: 'lrs', eventType: 'play_video', endpoint: 'lrs', transform })
    const events = Array.from({ length: STATEMENTS }, (_, n) => ({
      type: 'play_video',
      payload: makeEvent(n),
    }))
    const known = events.filter((_, n) => isDuplicate(n))
    await holdfast.publishBatch(known)
    await settled(holdfast, () => store.statements.size === known.length)
    store.requests = 0
    const startedMs = performance.now()
    for (let at = 0; at < STATEMENTS; at += BATCH) await holdfast.publishBatch(events.slice(at, at + BATCH))
    const refused = events.filter((_, n) => isRefused(n)).length
    await settled(holdfast, ({ deadLetters }) => deadLetters + store.statements.size >= STATEMENTS)
    const elapsedMs = performance.now() - startedMs
    const { deadLetters } = await holdfast.endpoints.health('lrs')
    if (store.statements.size !== STATEMENTS - refused)
      throw new Error(`${store.statements.size} statements are stored`)
    if (deadLetters !== refused) throw new Error(`${deadLetters} dead letters, ${refused} were refused`)
    return {
      value: (STATEMENTS / elapsedMs) * 1000,
      details: { elapsedMs, requests: store.requests, deadLetters },
      settings: { batch: 100 },
    }
  } finally {
    await holdfast.stop()
    await store.close()
  }
}

const isDuplicate = (n: number) => n % 100 === 3
const isRefused = (n: number) => n % 100 === 57

/** The backlog that nodes report is up to a second old, so the store and the dead letters are counted instead. */
async function settled(
  holdfast: Holdfast,
  isDone: (health: Awaited<ReturnType<Holdfast['endpoints']['health']>>) => boolean,
): Promise<void> {
  while (!isDone(await holdfast.endpoints.health('lrs'))) await wait(20)
}

function makeEvent(n: number): object {
  return {
    name: 'play_video',
    timestamp: new Date(1_900_000_000_000 + n * 1000).toISOString(),
    context: { course_id: 'course-v1:Acme+PY101+2030', username: `learner-${n % 100}`, session: 'f00dfeed' },
    data: { id: isRefused(n) ? 'refused' : `v${n % 50}`, currentTime: n % 60, duration: 60 },
  }
}

async function startStore() {
  const statements = new Map<string, unknown>()
  const store = {
    statements,
    requests: 0,
    url: '',
    close: () => new Promise((resolve) => server.close(resolve)),
  }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      store.requests += 1
      const given = JSON.parse(body) as { id: string; object: { id: string } }[]
      const status = given.some(({ object }) => object.id.endsWith('@refused'))
        ? 400
        : given.some(({ id }) => statements.has(id))
          ? 409
          : 200
      if (status === 200) for (const statement of given) statements.set(statement.id, statement)
      response.writeHead(status).end('[]')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  store.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/statements`
  return store
}
