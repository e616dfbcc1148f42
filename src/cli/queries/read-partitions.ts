import type { Database } from '../../storage/database.ts'

export interface PartitionState {
  readonly parent: 'messages' | 'attempts'
  readonly hasThisMonth: boolean
  /** Months after this one that have a partition, without a gap. */
  readonly monthsAhead: number
  /** Rows that no partition wanted; counted up to a thousand. */
  readonly strayRows: number
}

/** Reads at most a thousand rows of each default partition, and one catalogue entry a month. */
export async function readPartitions(database: Database): Promise<PartitionState[]> {
  return database.query<PartitionState>(
    {
      name: 'read_partitions',
      text: `
        with months as (
          select parent, ahead, exists (
            select from pg_inherits
            where inhparent = format('holdfast.%I', parent)::regclass and inhrelid = to_regclass(format('holdfast.%I', format('%s_%s', parent,
              to_char(date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead), 'YYYY_MM'))))
          ) as is_attached
          from unnest(array['messages', 'attempts']) as parent cross join generate_series(0, 24) as ahead
        ), strays as (
          select 'messages' as parent, (select count(*) from (select from holdfast.messages_default limit 1000) as few)::int as found
          union all
          select 'attempts', (select count(*) from (select from holdfast.attempts_default limit 1000) as few)::int
        )
        select parent, bool_or(is_attached) filter (where ahead = 0) as "hasThisMonth",
               coalesce(min(ahead) filter (where not is_attached and ahead > 0), 25)::int - 1 as "monthsAhead",
               max(strays.found) as "strayRows"
        from months join strays using (parent) group by parent order by parent desc`,
    },
    [],
  )
}
