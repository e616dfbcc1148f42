import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

/** Creates missing partitions of this month and the next ones; usually none is missing. Set a lock timeout first. */
export async function maintainPartitions(client: ClientBase, monthsAhead: number): Promise<number> {
  const { rows } = await client.query<{ created: number }>(
    'select holdfast.maintain_partitions($1) as created',
    [monthsAhead],
  )
  return rows[0]?.created ?? 0
}

export interface PartitionState {
  readonly parent: 'messages' | 'attempts'
  readonly hasThisMonth: boolean
  /** The number of months after this one that have a partition, without a gap. */
  readonly monthsAhead: number
  /** Rows in the default partition; counted up to a thousand. */
  readonly strayRows: number
}

/** Reads at most a thousand rows of each default partition, and the catalog's entries of the partitions. */
export async function readPartitions(database: Database): Promise<PartitionState[]> {
  return database.query<PartitionState>(
    {
      name: 'read_partitions',
      text: `
        with months as (
          select parent, ahead, exists (
            select from holdfast_internal.partition_ranges(parent) as part where part.from_id <= wanted.id and part.to_id > wanted.id
          ) as is_attached
          from unnest(array['messages', 'attempts']) as parent cross join generate_series(0, 24) as ahead
          -- Now, or the last moment of a month to come: partitions may be smaller than a month.
          cross join lateral (select case when ahead = 0 then holdfast_internal.id_at(now()) else holdfast_internal.id_at(
            (date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead + 1)) at time zone 'UTC') - 1 end as id) as wanted
        ), strays as (
          select 'messages' as parent, (select count(*) from (select from holdfast_internal.messages_default limit 1000) as few)::int as found
          union all
          select 'attempts', (select count(*) from (select from holdfast_internal.attempts_default limit 1000) as few)::int
        )
        select parent, bool_or(is_attached) filter (where ahead = 0) as "hasThisMonth",
               coalesce(min(ahead) filter (where not is_attached and ahead > 0), 25)::int - 1 as "monthsAhead",
               max(strays.found) as "strayRows"
        from months join strays using (parent) group by parent order by parent desc`,
    },
    [],
  )
}
