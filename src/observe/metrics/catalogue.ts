/** Every metric by its name without the prefix: what kind it is, and what it says. `docs/metrics.md` lists the same; a test compares. */
export const metricCatalogue = {
  deliveries_total: {
    type: 'counter',
    help: 'Deliveries that this node brought to their end, by outcome and transport.',
  },
  attempts_total: { type: 'counter', help: 'Attempts that this node made, by class and transport.' },
  attempt_duration_seconds: {
    type: 'histogram',
    help: 'How long attempts took, from the start to the answer.',
  },
  delivery_latency_seconds: {
    type: 'histogram',
    help: 'How long after a delivery was owed the attempt that succeeded ended.',
  },
  dead_letters_total: {
    type: 'counter',
    help: 'Deliveries and job runs that this process turned into dead letters.',
  },
  circuit_transitions_total: {
    type: 'counter',
    help: 'Changes of circuits that this node saw on its lanes, by new state.',
  },
  runs_total: { type: 'counter', help: 'Job runs that ended in this process, by outcome.' },
  run_duration_seconds: {
    type: 'histogram',
    help: 'How long the last attempts of the job runs that ended in this process took.',
  },
  runs_in_progress: { type: 'gauge', help: 'Job runs that this worker is executing.' },
  shard_takeovers_total: {
    type: 'counter',
    help: 'Shards that this node took over from a node that had died.',
  },
  interrupted_attempts_total: {
    type: 'counter',
    help: 'Attempts that were in flight at nodes or workers that died and were recovered by this process, by kind.',
  },
  lanes_revived_total: {
    type: 'counter',
    help: 'Lanes with due deliveries that nobody read until a recovery sweep found them. Above zero: a defect.',
  },
  settle_batch_size: { type: 'histogram', help: 'Results committed together.' },
  backlog: { type: 'gauge', help: 'Deliveries owed, over the whole cluster.' },
  oldest_due_seconds: {
    type: 'gauge',
    help: 'Age of the oldest delivery that is owed by an endpoint which may send.',
  },
  dead_letters: { type: 'gauge', help: 'Dead letters that nobody has settled yet.' },
  nodes: { type: 'gauge', help: 'Nodes that are alive.' },
  workers: { type: 'gauge', help: 'Workers that are alive.' },
  circuit_state: {
    type: 'gauge',
    help: 'Circuit of each endpoint that is not healthy, at most 1000: 0 closed, 1 half-open, 2 open.',
  },
  queue_runs: { type: 'gauge', help: 'Job runs that a queue owes: waiting, scheduled and running.' },
  queue_oldest_due_seconds: {
    type: 'gauge',
    help: 'How long the oldest run of a queue that could run now has waited.',
  },
  queue_dead_letters: { type: 'gauge', help: 'Unsettled dead letters of the jobs of a queue.' },
  database_up: {
    type: 'gauge',
    help: 'Whether the database answered this scrape; without it the gauges of the cluster are absent.',
  },
  endpoint_backlog: { type: 'gauge', help: 'Deliveries owed to a chosen endpoint.' },
  endpoint_in_flight: { type: 'gauge', help: 'Attempts under way at a chosen endpoint.' },
  endpoint_oldest_due_seconds: {
    type: 'gauge',
    help: 'Age of the oldest delivery owed to a chosen endpoint.',
  },
  endpoint_dead_letters: { type: 'gauge', help: 'Unsettled dead letters of a chosen endpoint.' },
} as const satisfies Record<string, { type: 'counter' | 'histogram' | 'gauge'; help: string }>

export type MetricKey = keyof typeof metricCatalogue

export const metricPrefix = 'holdfast_'

export function metricName(key: MetricKey): { name: string; help: string } {
  return { name: metricPrefix + key, help: metricCatalogue[key].help }
}

/** Those of the whole cluster, which the database answers for. */
export const gaugeKeys = (Object.keys(metricCatalogue) as MetricKey[]).filter(
  (key) => metricCatalogue[key].type === 'gauge' && key !== 'database_up' && key !== 'runs_in_progress',
)
