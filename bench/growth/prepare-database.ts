import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { HANDLER, MAX_PENDING } from '../workload/endpoints.ts'
import { raiseGlobalBound } from '../workload/raise-global-bound.ts'
import { switchOffAutovacuum } from '../workload/switch-off-autovacuum.ts'
import { EVENT_TYPE } from './publisher.ts'

const MODEL = 'model'

export type EndpointKind =
  | {
      readonly transport: 'function'
      readonly config: { readonly handler: string }
      readonly encryptionKey?: undefined
    }
  | { readonly transport: 'http'; readonly config: { readonly url: string }; readonly encryptionKey: string }

const inProcess: EndpointKind = { transport: 'function', config: { handler: HANDLER } }

/** Prepares the template of every point's database: migrated, empty, and with autovacuum off for every table, so that none is analysed. */
export async function prepareTemplate(databaseUrl: string): Promise<void> {
  const holdfast = new Holdfast({ databaseUrl })
  try {
    await holdfast.migrate()
  } finally {
    await holdfast.stop()
  }
  await raiseGlobalBound(databaseUrl, MAX_PENDING)
  await switchOffAutovacuum(databaseUrl)
}

/**
 * Creates an endpoint with default settings and a route for each tenant. Endpoints are copies of one that the SDK created: ten thousand calls would
 * take longer than the measurement.
 */
export async function createRoutedEndpoints(
  databaseUrl: string,
  tenants: readonly string[],
  { transport, config, encryptionKey }: EndpointKind = inProcess,
): Promise<void> {
  const holdfast = new Holdfast({
    databaseUrl,
    allowNetworks: ['127.0.0.0/8'],
    ...(encryptionKey !== undefined && { encryptionKey }),
  })
  const client = new Client({ connectionString: databaseUrl })
  try {
    await client.connect()
    if (transport === 'http') {
      for (const name of tenants) {
        await holdfast.endpoints.create({
          name,
          transport,
          config,
          limits: { maxPending: MAX_PENDING },
        })
      }
    } else {
      await holdfast.endpoints.create({
        name: MODEL,
        transport,
        config,
        limits: { maxPending: MAX_PENDING },
      })
      await client.query(
        `insert into holdfast_internal.endpoints (name, transport, tags, config, settings)
         select given.name, model.transport, model.tags, model.config, model.settings
         from unnest($1::text[]) as given (name) cross join (select * from holdfast_internal.endpoints where name = $2) as model`,
        [tenants, MODEL],
      )
    }
    await client.query(
      `insert into holdfast_internal.routes (name, tenant, event_type, exact_type, lane_id)
       select endpoint.name, endpoint.name, $2, $2, endpoint.id from holdfast_internal.endpoints as endpoint where endpoint.name = any($1)`,
      [tenants, EVENT_TYPE],
    )
  } finally {
    await client.end()
    await holdfast.stop()
  }
}

export function tenantNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `tenant-${index}`)
}
