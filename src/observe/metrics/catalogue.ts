/** Every metric by its name without the prefix: its kind, and its description. `docs/metrics.md` lists the same metrics; a test compares them. */
export const metricCatalogue = {
  deliveries_total: {
    type: 'counter',
    help: 'Deliveries that this node finished, by outcome and transport.',
  },
  attempts_total: { type: 'counter', help: 'Attempts made by this node, by class and transport.' },
  attempt_duration_seconds: {
    type: 'histogram',
    help: 'Duration of attempts, from the start to the response.',
  },
  delivery_latency_seconds: {
    type: 'histogram',
    help: 'Time from when a delivery was due until it succeeded.',
  },
  dead_letters_total: {
    type: 'counter',
    help: 'Deliveries and job runs that became dead letters in this process.',
  },
  circuit_transitions_total: {
    type: 'counter',
    help: 'Circuit changes observed by this node, by new state.',
  },
  runs_total: { type: 'counter', help: 'Job runs that ended in this process, by job and outcome.' },
  run_duration_seconds: {
    type: 'histogram',
    help: 'Duration of the last attempts of job runs that ended in this process, by job.',
  },
  runs_in_progress: { type: 'gauge', help: 'Job runs that this worker is executing.' },
  shard_takeovers_total: {
    type: 'counter',
    help: 'Shards that this node took over from a node that had died.',
  },
  interrupted_attempts_total: {
    type: 'counter',
    help: 'Attempts in flight on nodes or workers that died, recovered by this process, by kind.',
  },
  lanes_revived_total: {
    type: 'counter',
    help: 'Endpoints whose due deliveries were read only when a recovery sweep found them. Above zero: a defect.',
  },
  source_messages_total: {
    type: 'counter',
    help: 'Messages of sources that this node acknowledged, by source and outcome.',
  },
  broker_dispatched_total: { type: 'counter', help: 'Runs that this node published to the broker.' },
  broker_dead_letters_total: {
    type: 'counter',
    help: "Messages of the broker's dead-letter queue that this node handled, by outcome and reason.",
  },
  broker_dead_letter_latency_seconds: {
    type: 'histogram',
    help: 'Time from the dead-lettering of a message by the broker until its run was settled.',
  },
  settle_batch_size: { type: 'histogram', help: 'Number of results per commit.' },
  backlog: { type: 'gauge', help: 'Pending deliveries in the whole cluster.' },
  oldest_due_seconds: {
    type: 'gauge',
    help: 'Age of the oldest pending delivery of an endpoint that may send.',
  },
  dead_letters: { type: 'gauge', help: 'Open dead letters.' },
  nodes: { type: 'gauge', help: 'Nodes that are alive.' },
  workers: { type: 'gauge', help: 'Workers that are alive.' },
  circuit_state: {
    type: 'gauge',
    help: 'Circuit of each unhealthy endpoint, at most 1000: 0 closed, 1 half-open, 2 open.',
  },
  queue_runs: { type: 'gauge', help: 'Unfinished job runs of a queue: waiting, scheduled and running.' },
  queue_oldest_due_seconds: {
    type: 'gauge',
    help: 'Waiting time of the oldest run of a queue that could run now.',
  },
  queue_dead_letters: { type: 'gauge', help: 'Unsettled dead letters of the jobs of a queue.' },
  queue_unhandled_runs: {
    type: 'gauge',
    help: 'Runs that could run now, of jobs that no live worker handles; counted to some thousands.',
  },
  source_connections: { type: 'gauge', help: 'Nodes that are connected to a source.' },
  source_unacknowledged: {
    type: 'gauge',
    help: 'Messages of a source that nodes hold and have not acknowledged.',
  },
  source_rejects: {
    type: 'gauge',
    help: 'Messages of a source that could not become events and wait for a person; counted to 10,000.',
  },
  broker_connections: { type: 'gauge', help: 'Nodes that are connected to the broker.' },
  broker_blocked: { type: 'gauge', help: 'Nodes whose messages the broker does not accept at the moment.' },
  broker_dead_letter_depth: { type: 'gauge', help: "Messages that wait in the broker's dead-letter queue." },
  broker_results_depth: { type: 'gauge', help: "Messages that wait in the broker's results queue." },
  broker_unstarted_runs: { type: 'gauge', help: 'Runs that were dispatched and have not started.' },
  broker_rejects: {
    type: 'gauge',
    help: 'Messages of the broker that no node could read; counted to 10,000.',
  },
  database_up: {
    type: 'gauge',
    help: 'Whether the database answered this scrape; if not, the gauges of the cluster are absent.',
  },
  endpoint_backlog: { type: 'gauge', help: 'Pending deliveries of a selected endpoint.' },
  endpoint_in_flight: { type: 'gauge', help: 'Attempts in flight to a selected endpoint.' },
  endpoint_oldest_due_seconds: {
    type: 'gauge',
    help: 'Age of the oldest pending delivery of a selected endpoint.',
  },
  endpoint_dead_letters: { type: 'gauge', help: 'Open dead letters of a selected endpoint.' },
} as const satisfies Record<string, { type: 'counter' | 'histogram' | 'gauge'; help: string }>

export type MetricKey = keyof typeof metricCatalogue

export const metricPrefix = 'holdfast_'

export function metricName(key: MetricKey): { name: string; help: string } {
  return { name: metricPrefix + key, help: metricCatalogue[key].help }
}

/** Gauges of the whole cluster, which are read from the database. */
export const gaugeKeys = (Object.keys(metricCatalogue) as MetricKey[]).filter(
  (key) => metricCatalogue[key].type === 'gauge' && key !== 'database_up' && key !== 'runs_in_progress',
)
