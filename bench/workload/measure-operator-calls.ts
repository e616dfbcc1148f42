import { Client } from 'pg'
import { Authenticator } from '../../dist/api/access/authenticator.js'
import { ApiServer } from '../../dist/api/api-server.js'
import { formatId } from '../../dist/core/delivery/ids.js'
import { Holdfast } from '../../dist/index.js'
import { readGauges } from '../../dist/storage/metrics.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { operatorCalls } from './operator-calls.ts'
import { type Dataset, defineOperatorDataset, FULL_SIZE, fillOperatorDataset } from './operator-dataset.ts'

const ROUNDS = 21
const FILLING_CONNECTIONS = 2
const KEY = 'hf_bench'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export interface CallTimes {
  readonly name: string
  readonly status: number
  readonly p95Ms: number
  readonly maxMs: number
}

/** The slowest call's p95, over HTTP, against 10 M attempts, 1 M dead letters, 1 M runs and 10,000 endpoints in tables that were never analysed. */
export async function measureOperatorCalls(context: SampleContext): Promise<Sample> {
  const share = context.messages / 100_000
  const size = { events: FULL_SIZE.events * share, endpoints: context.endpointCount }
  const startedMs = performance.now()
  const dataset = await fillDatabase(context.databaseUrl, size)
  const filledMs = performance.now() - startedMs
  const calls = await timeOperatorCalls(context.databaseUrl, dataset, (times) =>
    process.stderr.write(`${formatTimes(times)}\n`),
  )
  const worst = calls.toSorted((a, b) => b.p95Ms - a.p95Ms)
  return {
    value: worst[0]?.p95Ms ?? Number.NaN,
    details: {
      calls: calls.length,
      highestMs: Math.max(...calls.map(({ maxMs }) => maxMs)),
      over100ms: calls.filter(({ p95Ms }) => p95Ms > 100).length,
      filledMs,
      ...Object.fromEntries(worst.slice(0, 5).map(({ name, p95Ms }) => [`${name} p95Ms`, p95Ms])),
    },
    settings: { rounds: ROUNDS, ...size },
  }
}

export async function fillDatabase(
  databaseUrl: string,
  size: { events: number; endpoints: number },
): Promise<Dataset> {
  const holdfast = new Holdfast({ databaseUrl })
  await holdfast.migrate()
  await holdfast.endpoints.create({ name: 'template', transport: 'function', config: {} })
  await holdfast.stop()
  const clients = Array.from(
    { length: FILLING_CONNECTIONS },
    () => new Client({ connectionString: databaseUrl }),
  )
  try {
    for (const client of clients) await client.connect()
    const dataset = await defineOperatorDataset(clients[0] as Client, size)
    await fillOperatorDataset(clients, dataset, { isBulk: true })
    return dataset
  } finally {
    for (const client of clients) await client.end()
  }
}

/** Makes every call, one after the other, `ROUNDS` times, including the first time with cold caches and no plans. A call that fails throws. */
export async function timeOperatorCalls(
  databaseUrl: string,
  dataset: Dataset,
  report: (times: CallTimes) => void,
): Promise<CallTimes[]> {
  const holdfast = new Holdfast({ databaseUrl })
  const database = () => holdfast.database
  const server = new ApiServer({
    holdfast,
    database,
    authenticator: new Authenticator({ database, adminKey: KEY }),
    logger: silent,
    host: '127.0.0.1',
    port: 0,
  })
  try {
    await server.start()
    const overHttp = operatorCalls(dataset, formatId).map(({ name, path, method = 'GET', body }) => ({
      name,
      call: async (round: number) => {
        const answer = await fetch(server.url + (typeof path === 'string' ? path : path(round)), {
          method,
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await answer.text()
        if (answer.status >= 500 && answer.status !== 503)
          throw new Error(`${name} answered ${answer.status}: ${text}`)
        if (answer.status >= 400 && answer.status < 500)
          throw new Error(`${name} answered ${answer.status}: ${text}`)
        return answer.status
      },
    }))
    // Not the metrics page, which caches what it has read.
    const gauges = {
      name: 'metrics',
      call: async () => (await readGauges(database(), { names: [], top: 100 })).length && 200,
    }
    const times: CallTimes[] = []
    for (const { name, call } of [...overHttp, gauges]) {
      const taken: number[] = []
      let status = 200
      for (let round = 0; round < ROUNDS; round += 1) {
        const startedMs = performance.now()
        status = await call(round)
        taken.push(performance.now() - startedMs)
        // A call that takes seconds needs no more rounds.
        if (performance.now() - startedMs > 2000) break
      }
      taken.sort((a, b) => a - b)
      const measured = {
        name,
        status,
        p95Ms: taken[Math.ceil(taken.length * 0.95) - 1] ?? 0,
        maxMs: taken.at(-1) ?? 0,
      }
      times.push(measured)
      report(measured)
    }
    return times
  } finally {
    await server.stop()
    await holdfast.stop()
  }
}

export function formatTimes({ name, status, p95Ms, maxMs }: CallTimes): string {
  return `${name.padEnd(36)} ${status}  p95 ${p95Ms.toFixed(1).padStart(9)} ms  max ${maxMs.toFixed(1).padStart(9)} ms`
}
