import type { Database } from './database.ts'

export interface Gauge {
  /** Without the prefix. */
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ChosenEndpoints {
  readonly names: readonly string[]
  /** In addition, this many endpoints with the most pending deliveries. */
  readonly top: number
}

/** Only the gauges of queues, for a worker's page. Scans up to a million rows of runs. */
export async function readQueueGauges(database: Database): Promise<Gauge[]> {
  return database.query<Gauge>(
    {
      name: 'read_queue_metrics',
      text: 'select metric, labels, value from holdfast_internal.queue_metrics()',
    },
    [],
  )
}

/** Gauges of the whole cluster, which only the database has. Indexes: deliveries_ready, dead_letters_state; a scan of breakers. */
export async function readGauges(database: Database, chosen: ChosenEndpoints): Promise<Gauge[]> {
  const gauges = await database.query<Gauge>(
    { name: 'read_metrics', text: 'select metric, labels, value from holdfast.metrics()' },
    [],
  )
  if (chosen.names.length === 0 && chosen.top === 0) return gauges
  const ofEndpoints = await database.query<Gauge>(
    {
      name: 'read_endpoint_metrics',
      text: 'select metric, labels, value from holdfast.endpoint_metrics($1, $2)',
    },
    [chosen.names, chosen.top],
  )
  return [...gauges, ...ofEndpoints]
}
