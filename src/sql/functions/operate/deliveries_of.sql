-- The deliveries that one message led to, oldest first. Indexes: deliveries_message, attempts_message, dead_letters_message and the primary keys.
create or replace function holdfast_internal.deliveries_of(message bigint, max_rows integer) returns bigint[]
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
begin
  return array(
    select distinct every.id from (
      select owed.id from holdfast_internal.deliveries as owed where owed.id = message and owed.message_id = message
      union all select owed.id from holdfast_internal.deliveries as owed where owed.message_id = message and owed.message_id <> owed.id
      union all (
        select tried.delivery_id from holdfast_internal.attempts as tried where tried.delivery_id = message and tried.message_id = message
        order by tried.attempt offset 0
      )
      union all select tried.delivery_id from holdfast_internal.attempts as tried where tried.message_id = message and tried.message_id <> tried.delivery_id
      union all select letter.delivery_id from holdfast_internal.dead_letters as letter where letter.message_id = message
    ) as every order by every.id limit max_rows
  );
end $$;
