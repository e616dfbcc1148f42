import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { drain } from './drain.ts'
import { createEndpoints, endpointNames, HANDLER } from './endpoints.ts'
import { makePayload } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { watchSettling } from './watch-settling.ts'

const MESSAGES_PER_ENDPOINT = 5

/**
 * Sends one message to each endpoint, repeatedly: consecutive messages never go to the same endpoint. By SQL, because single calls would take longer
 * than the measurement.
 */
const SEND_ONE_EACH = `
  select count(*) from unnest($1::text[]) as endpoint cross join lateral holdfast.send(endpoint, $2::jsonb)`

/** Deliveries per second: for the subject a few for each of many endpoints, for the other arm as many for one endpoint. */
export async function measureTrickling(context: SampleContext): Promise<Sample> {
  const { databaseUrl, endpointCount } = context
  const names = endpointNames(context.arm === SUBJECT ? endpointCount : 1)
  const messages = endpointCount * MESSAGES_PER_ENDPOINT
  const watch = watchSettling()
  const holdfast = new Holdfast({ databaseUrl, observer: watch.observer, handlers: { [HANDLER]: () => {} } })
  const client = new Client({ connectionString: databaseUrl })
  try {
    await client.connect()
    await holdfast.migrate()
    await createEndpoints(holdfast, names)
    const rounds = Array.from({ length: endpointCount }, (_, index) => names[index % names.length])
    for (let sequence = 0; sequence < MESSAGES_PER_ENDPOINT; sequence++) {
      await client.query(SEND_ONE_EACH, [rounds, JSON.stringify(makePayload(sequence))])
    }
    await refreshStatistics(databaseUrl)
    const { perSecond, elapsedMs } = await drain(holdfast, watch, messages)
    return {
      value: perSecond,
      details: { messages, elapsedMs, endpoints: names.length },
      settings: { messagesPerEndpoint: messages / names.length },
    }
  } finally {
    await holdfast.stop()
    await client.end()
  }
}
