import type { TestDatabase } from '../test-database.ts'

/** What a node says of a broker, where a queue is not what it should be, and a run that expired on it. Returns its dead letter. */
export async function fillBroker({ pool }: TestDatabase, run: string): Promise<string> {
  const said = {
    prefix: 'holdfast',
    deadLetterTtlMs: 86_400_000,
    deliveryLimit: 20,
    server: { product: 'RabbitMQ', version: '3.10.8' },
    waiting: 2,
    deadLetterDepth: 3,
    dispatched: 18_211,
    failed: 14,
    failedExpired: 12,
    failedDeliveryLimit: 1,
    failedRejected: 1,
    returned: 3,
    ended: 7,
    unreadable: 1,
    latencyP50Ms: 840,
    latencyP95Ms: 2150,
  }
  // Dated an hour ahead, so that the report counts as recent during the whole test.
  const hourMs = 3_600_000
  const lastFailure = { error: 'connect ECONNREFUSED 10.0.4.17:5672', agoMs: hourMs * 9.1 }
  const report = { ...said, state: 'connected', error: null, sinceMs: hourMs * 9, lastFailure }
  await pool.query(
    `insert into holdfast_internal.broker_reports (incarnation, node, report, reported_at)
     select incarnation, name, $1, now() + interval '1 hour' from holdfast_internal.nodes order by incarnation desc limit 1`,
    [JSON.stringify(report)],
  )
  await pool.query(
    `insert into holdfast_internal.broker_queues (name, worker, ttl_ms, messages, consumers, problem, seen_at) values
       ('holdfast.results.queue', null, null, 0, 1, null, now()), ('holdfast.beats.queue', null, null, 0, 1, null, now()),
       ('holdfast.dlx.queue', null, null, 3, 1, null, now()), ('holdfast.queue.default', null, null, 41, 6, null, now()),
       ('holdfast.queue.mail', null, null, null, null, $1, now()), ('holdfast.worker.press-7', 'press-7', 300000, 2, 0, null, now())`,
    [
      JSON.stringify({
        message:
          'The queue "holdfast.queue.mail" exists with another x-queue-type: classic instead of quorum.',
        fix: 'Let its messages be consumed, then delete the queue (rabbitmqctl delete_queue holdfast.queue.mail); Holdfast declares it again. Or choose another prefix with HOLDFAST_BROKER_PREFIX.',
      }),
    ],
  )
  await pool.query(
    `select holdfast_internal.fail_runs(array[holdfast.parse_id('run', $1)], 'worker_queue_ttl_expired', 'worker_queue_ttl_expired', 'Worker queue TTL expired', 0)`,
    [run],
  )
  const letter = await pool.query(
    `update holdfast_internal.dead_letters set broker_history = $2 where delivery_id = holdfast.parse_id('run', $1)
     returning holdfast.format_id('dlt', id) as id`,
    [
      run,
      JSON.stringify([
        {
          reason: 'expired',
          count: 1,
          queue: 'holdfast.worker.press-7',
          exchange: 'holdfast.dispatch',
          'routing-keys': ['worker.press-7.300000'],
          time: new Date().toISOString(),
        },
      ]),
    ],
  )
  return letter.rows[0].id as string
}
