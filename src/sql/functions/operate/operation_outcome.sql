-- The outcome of the first `max_rows` deliveries that an operation created. `gone`: settled in another way since, or no longer stored.
-- Indexes: operation_deliveries_pkey, replays_operation, dead_letters_redriven, dead_letters_delivery_id_key, deliveries_pkey.
create or replace function holdfast_internal.operation_outcome(
  operation bigint, max_rows integer, out delivered bigint, out waiting bigint, out failed bigint, out gone bigint, out is_complete boolean
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  is_replay constant boolean := (select kind = 'replay' from holdfast_internal.operations where id = operation);
  looked_at bigint;
begin
  if is_replay then
    with sent as materialized (
      select id from holdfast_internal.replays as step cross join lateral unnest(step.ids) as range
      cross join lateral generate_series(lower(range), upper(range) - 1) as id
      where step.operation_id = operation limit max_rows + 1
    ), seen as materialized (
      select exists (select from holdfast_internal.deliveries as owed where owed.id = sent.id) as is_owed,
             (select letter.state from holdfast_internal.dead_letters as letter where letter.delivery_id = sent.id) as letter
      from sent limit max_rows
    )
    select (select count(*) from sent), count(*) filter (where is_owed or letter = 'redriven'), count(*) filter (where not is_owed and letter = 'open'),
           count(*) filter (where not is_owed and letter in ('resolved', 'discarded', 'erased')), count(*) filter (where not is_owed and letter is null)
    into looked_at, waiting, failed, gone, delivered from seen;
  else
    with sent as materialized (
      select range from holdfast_internal.operation_deliveries as step cross join lateral unnest(step.ids) as range
      where step.operation_id = operation order by step.operation_id, step.step limit max_rows + 1
    ), seen as materialized (
      select letter.state, letter.settled_at from sent cross join lateral (
        select one.state, one.settled_at from holdfast_internal.dead_letters as one
        where one.redriven_delivery_id >= lower(sent.range) and one.redriven_delivery_id < upper(sent.range) and one.redriven_delivery_id is not null
        limit max_rows + 1
      ) as letter limit max_rows + 1
    )
    select count(*), count(*) filter (where state = 'redriven' and settled_at is not null), count(*) filter (where state = 'redriven' and settled_at is null),
           count(*) filter (where state = 'open'), count(*) filter (where state not in ('redriven', 'open'))
    into looked_at, delivered, waiting, failed, gone from seen;
  end if;
  is_complete := looked_at <= max_rows;
end $$;
