import { connect } from 'amqplib'
import { Client } from 'pg'
import { topologyNames } from '../../../src/broker/topology.ts'

/** Deletes what nodes declared for a test, on a broker that others use too. */
export async function removeTopology(amqpUrl: string, prefix: string, databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('select name from holdfast_internal.broker_queues')
  await client.end()
  const names = topologyNames(prefix)
  const connection = await connect(amqpUrl)
  const channel = await connection.createChannel()
  const queues = rows.map(({ name }) => name)
  for (const queue of [...queues, names.resultsQueue, names.beatsQueue, names.deadLetterQueue])
    await channel.deleteQueue(queue)
  for (const exchange of [names.dispatch, names.results, names.deadLetters])
    await channel.deleteExchange(exchange)
  await connection.close()
}
