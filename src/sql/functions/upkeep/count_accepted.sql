-- How many events were accepted in a span of time, counted up to `max_rows`. Ids are by time. Index: messages_pkey.
create or replace function holdfast_internal.count_accepted(since timestamptz, before timestamptz, max_rows integer) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (
    select count(*) from (
      select from holdfast_internal.messages
      where id >= holdfast_internal.id_at(since) and id < holdfast_internal.id_at(before) and not is_run limit max_rows
    ) as counted
  );
end $$;
