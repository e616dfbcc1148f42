-- The messages of a range of ids that pending deliveries, unfinished runs or unsettled dead letters need, the lowest ids first, at most `max_rows`
-- (null: all). Indexes: deliveries_pkey, deliveries_message, dead_letters_message, runs_pkey, runs_message.
create or replace function holdfast_internal.needed_messages(first_id bigint, end_id bigint, max_rows integer default null) returns setof bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
  if first_id is null then
    return;
  end if;
  return query
  (select id from holdfast_internal.deliveries where id >= first_id and id < end_id and message_id = id order by id limit max_rows)
  union (select message_id from holdfast_internal.deliveries where message_id >= first_id and message_id < end_id and message_id <> id
         order by message_id limit max_rows)
  union (select message_id from holdfast_internal.dead_letters where message_id >= first_id and message_id < end_id and settled_at is null
         order by message_id limit max_rows)
  union (select id from holdfast_internal.runs where id >= first_id and id < end_id and message_id is null order by id limit max_rows)
  union (select message_id from holdfast_internal.runs where message_id >= first_id and message_id < end_id and message_id is not null
         order by message_id limit max_rows)
  union (select bundled.id from holdfast_internal.bundled_ids(first_id, end_id) as bundled (id) order by bundled.id limit max_rows)
  order by 1 limit max_rows;
end $$;
