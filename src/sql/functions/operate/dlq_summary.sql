create or replace function holdfast.dlq_summary()
returns table (
  endpoint text, dead bigint, redriven bigint, resolved bigint, discarded bigint, oldest timestamptz, newest timestamptz, queue text
)
language plpgsql stable as $$
begin
  return query
  select endpoint.name,
    count(*) filter (where letter.state = 'open'), count(*) filter (where letter.state = 'redriven'),
    count(*) filter (where letter.state = 'resolved'), count(*) filter (where letter.state = 'discarded'),
    min(letter.created_at) filter (where letter.state = 'open'), max(letter.created_at) filter (where letter.state = 'open'), line.name
  from holdfast_internal.dead_letters as letter
  left join holdfast_internal.endpoints as endpoint on endpoint.id = letter.lane_id
  left join holdfast_internal.queues as line on line.id = letter.lane_id
  group by letter.lane_id, endpoint.name, line.name
  order by 2 desc, 1;
end $$;
