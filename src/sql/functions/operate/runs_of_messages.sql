-- The runs of these messages, redrives included. Indexes: runs_message, attempts_message, dead_letters_message; the first run has its message's id.
create or replace function holdfast_internal.runs_of_messages(message_ids bigint[]) returns bigint[]
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
  return array(
    select distinct every.id from unnest(message_ids) as asked (id) cross join lateral (
      select asked.id
      union all select run.id from holdfast_internal.runs as run where run.message_id = asked.id
      union all select tried.delivery_id from holdfast_internal.attempts as tried
        where tried.message_id = asked.id and tried.message_id <> tried.delivery_id
      union all select letter.delivery_id from holdfast_internal.dead_letters as letter where letter.message_id = asked.id
    ) as every (id)
  );
end $$;
