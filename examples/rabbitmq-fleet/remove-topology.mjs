import { connect } from 'amqplib'

/** Deletes what the example's node declared on the broker. An installation keeps it. */
export async function removeTopology({ HOLDFAST_AMQP_URL: url, HOLDFAST_BROKER_PREFIX: prefix }) {
  const connection = await connect(url)
  const channel = await connection.createChannel()
  const queues = [
    'queue.images',
    'worker.first',
    'worker.second',
    'results.queue',
    'beats.queue',
    'dlx.queue',
  ]
  for (const queue of queues) await channel.deleteQueue(`${prefix}.${queue}`)
  for (const exchange of ['dispatch', 'results', 'dlx']) await channel.deleteExchange(`${prefix}.${exchange}`)
  await connection.close()
}
