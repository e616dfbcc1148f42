-- The pending deliveries or runs of a message, locked so that no other transaction settles them. Indexes: deliveries_pkey, deliveries_message, dead_letters_message.
create or replace function holdfast_internal.owed_of(message bigint) returns bigint[]
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  owed bigint[];
begin
  owed := array(
    select each.id from (
      select one.id from holdfast_internal.deliveries as one where one.id = message and one.message_id = message
      union all select one.id from holdfast_internal.deliveries as one where one.message_id = message and one.message_id <> one.id
    ) as each order by each.id
  );
  perform from holdfast_internal.deliveries as one where one.id = any (owed) order by one.id for update;
  return owed || array(
    select run.id from holdfast_internal.describe_runs(message || array(
      select letter.redriven_delivery_id from holdfast_internal.dead_letters as letter
      where letter.message_id = message and letter.redriven_delivery_id is not null
    )) as run where run.state in ('waiting', 'scheduled', 'running')
  );
end $$;
