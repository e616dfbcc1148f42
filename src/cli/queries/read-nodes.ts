import type { Database } from '../../storage/database.ts'

export interface NodeState {
  readonly name: string
  readonly incarnation: number
  readonly version: string
  readonly isStopping: boolean
  readonly sinceBeatMs: number
  readonly shards: number
}

/** A handful of rows, and the 256 leases. */
export async function readNodes(database: Database): Promise<NodeState[]> {
  return database.query<NodeState>(
    {
      name: 'read_nodes',
      text: `
        select node.name, node.incarnation, node.version, node.is_stopping as "isStopping",
               (extract(epoch from clock_timestamp() - node.beat_at) * 1000)::float8 as "sinceBeatMs", count(lease.shard)::int as shards
        from holdfast_internal.nodes as node left join holdfast_internal.shard_leases as lease on lease.incarnation = node.incarnation
        group by node.incarnation order by node.incarnation limit 1000`,
    },
    [],
  )
}
